#include "state/backend/stack_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "state/codec/json_writer.h"

namespace davit {
namespace {

constexpr std::string_view kEntryEnd = ".history.json";

std::string EntryJson(const HistoryEntry& entry) {
  std::string json;
  JsonObjectWriter object(&json);
  object.String("kind", entry.kind);
  *object.Key("startTime") += std::to_string(entry.start_time);
  object.String("message", entry.message);
  JsonObjectWriter environment(object.Key("environment"));
  for (const auto& [name, value] : entry.environment) {
    environment.String(name, value);
  }
  environment.End();
  *object.Key("config") += entry.config_json.empty() ? "{}" : entry.config_json;
  *object.Key("version") += '0';
  object.String("result", entry.result);
  *object.Key("endTime") += std::to_string(entry.end_time);
  if (!entry.changes.empty()) {
    JsonObjectWriter changes(object.Key("resourceChanges"));
    for (const auto& [op, count] : entry.changes) {
      *changes.Key(op) += std::to_string(count);
    }
    changes.End();
  }
  object.End();
  return json;
}

Result<HistoryEntry> ParseEntry(const std::string& text, const std::string& path) {
  JsonReader reader(text, fmt::format("the history entry '{}'", path));
  HistoryEntry entry;
  std::string key;
  for (reader.EnterObject(); reader.NextMember(&key);) {
    std::string name;
    if (key == "kind") {
      entry.kind = reader.String();
    } else if (key == "startTime") {
      entry.start_time = static_cast<std::int64_t>(reader.Number());
    } else if (key == "endTime") {
      entry.end_time = static_cast<std::int64_t>(reader.Number());
    } else if (key == "message") {
      entry.message = reader.String();
    } else if (key == "result") {
      entry.result = reader.String();
    } else if (key == "config") {
      entry.config_json = CompactJson(reader);
    } else if (key == "environment") {
      for (reader.EnterObject(); reader.NextMember(&name);) {
        entry.environment[name] = reader.String();
      }
    } else if (key == "resourceChanges") {
      for (reader.EnterObject(); reader.NextMember(&name);) {
        entry.changes[name] = static_cast<int>(reader.Number());
      }
    } else {
      reader.Raw();
    }
  }
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  return entry;
}

// Not synced: the state does not depend on it, and each run would pay for it.
Result<void> WriteWhole(FileLayer& files, const std::string& path, const std::string& text) {
  DAVIT_TRY_VOID(files.MakeFolder(FolderOf(path)));
  const std::string beside = path + ".tmp";
  {
    DAVIT_TRY(const std::unique_ptr<AppendFile> file, files.Create(beside));
    DAVIT_TRY_VOID(file->Append(text));
  }
  return files.Rename(beside, path);
}

}  // namespace

Result<std::vector<HistoryEntry>> ReadStackHistory(FileLayer& files,
                                                   const StackFiles& paths,
                                                   std::vector<std::string>* unread) {
  DAVIT_TRY(std::vector<FolderItem> items, files.List(paths.history));
  std::ranges::reverse(items);
  std::vector<HistoryEntry> entries;
  for (const FolderItem& item : items) {
    const std::string path = paths.history + "/" + item.name;
    if (item.is_folder || !item.name.ends_with(kEntryEnd)) {
      if (item.name.find(std::string(kEntryEnd) + ".") != std::string::npos &&
          !item.name.ends_with(".attrs") && !item.name.ends_with(".tmp")) {
        unread->push_back(
            fmt::format("davit does not read the compressed history entry '{}'", path));
      }
      continue;
    }
    DAVIT_TRY(const std::optional<std::string> text, files.Read(path));
    Result<HistoryEntry> entry = ParseEntry(text.value_or(""), path);
    if (entry) {
      entries.push_back(*std::move(entry));
    } else {
      unread->push_back(entry.error().message);
    }
  }
  return entries;
}

Result<void> AddToStackHistory(FileLayer& files,
                               const StackFiles& paths,
                               const StackRef& stack,
                               const HistoryEntry& entry,
                               bool keep_state) {
  const long long now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
  DAVIT_TRY_VOID(WriteWhole(files,
                            fmt::format("{}/{}-{}{}", paths.history, stack.stack, now, kEntryEnd),
                            EntryJson(entry)));
  if (!keep_state) {
    return {};
  }
  DAVIT_TRY(const std::optional<std::string> checkpoint, files.Read(paths.checkpoint));
  return WriteWhole(files,
                    fmt::format("{}/{}.{}.json", paths.backups, stack.stack, now),
                    checkpoint.value_or(""));
}

}  // namespace davit
