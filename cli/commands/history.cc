// The history of a stack: what runs leave there, `stack history`, `config refresh` (C40, C54, C69,
// S145).

#include "cli/commands/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/config_edit.h"
#include "cli/commands/shared.h"
#include "cli/display/sections.h"
#include "cli/json_writer.h"
#include "host/plugin/download.h"

namespace davit {
namespace {

constexpr long kPageSize = 10;

const char* KindOf(DeploymentMode mode) {
  return mode == DeploymentMode::kImport ? "resource-import" : ModeName(mode);
}

std::int64_t Seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// Booleans by value; of all else only that it is set, as it may be a secret.
std::string WithoutValue(const std::string& value) {
  std::string lower = value;
  std::ranges::transform(
      lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "true" || lower == "1"    ? "true"
         : lower == "false" || lower == "0" ? "false"
                                            : "set";
}

std::map<std::string, std::string> EnvironmentOf(const Context& context,
                                                 const StackSession& session) {
  std::map<std::string, std::string> environment = {
      {"exec.kind", "cli"},
      {"pulumi.os", "linux"},
      {"pulumi.arch", MachineName()},
      {"pulumi.version", VersionText()},
      {"runtime.name", session.workspace.project().runtime},
      {"stack.environments", "[]"},
      {"updatePlan", context.invocation().IsSet("plan") ? "true" : "false"}};
  for (const auto& [name, value] : context.environment()) {
    if (name.starts_with("PULUMI_") || name.starts_with("DAVIT_")) {
      environment["pulumi.env." + name] = WithoutValue(value);
    }
  }
  for (const std::string& flag : context.invocation().FlagsSet()) {
    environment["pulumi.flag." + flag] = WithoutValue(context.invocation().Text(flag));
  }
  return environment;
}

Result<std::map<std::string, ConfigNode>> ConfigOf(const HistoryEntry& entry,
                                                   const StackSession& session) {
  // JSON is YAML, and an entry holds values as a stack file does.
  DAVIT_TRY(const StackFile file,
            StackFile::Parse("config: " + (entry.config_json.empty() ? "{}" : entry.config_json),
                             "the history entry",
                             session.stack.project));
  return file.config();
}

WallTime TimeOf(std::int64_t seconds) {
  return WallTime(std::chrono::seconds(seconds));
}

Result<void> WriteJson(const HistoryEntry& entry,
                       StackSession& session,
                       bool show_secrets,
                       JsonWriter* json) {
  json->BeginObject().Key("version").Integer(0).Key("kind").String(entry.kind);
  json->Key("startTime").String(JsonTime(TimeOf(entry.start_time)));
  json->Key("message").String(entry.message);
  json->Key("environment").BeginObject();
  for (const auto& [name, value] : entry.environment) {
    json->Key(name).String(value);
  }
  json->EndObject().Key("config").BeginObject();
  using Config = std::map<std::string, ConfigNode>;
  DAVIT_TRY(const Config config, ConfigOf(entry, session));
  for (const auto& [key, node] : config) {
    json->Key(key);
    DAVIT_TRY_VOID(WriteConfigEntry(node, show_secrets, SessionDecrypter(session), json));
  }
  json->EndObject().Key("result").String(entry.result);
  json->Key("endTime").String(JsonTime(TimeOf(entry.end_time)));
  if (!entry.changes.empty()) {
    json->Key("resourceChanges").BeginObject();
    for (const auto& [op, count] : entry.changes) {
      json->Key(op).Integer(count);
    }
    json->EndObject();
  }
  json->EndObject();
  return {};
}

std::string EntryText(const HistoryEntry& entry, bool full_dates) {
  const auto count = [&](const char* op) {
    const auto found = entry.changes.find(op);
    return found == entry.changes.end() ? 0 : found->second;
  };
  std::string text = fmt::format("Version: 0\nUpdateKind: {}\nStatus: {}\nMessage: {}\n",
                                 entry.kind,
                                 entry.result,
                                 entry.message);
  text += fmt::format(
      "+{}-{}~{} {} Updated {} took {}\n",
      count("create"),
      count("delete"),
      count("update"),
      count("same"),
      full_dates ? JsonTime(TimeOf(entry.start_time)) : AgoText(TimeOf(entry.start_time)),
      DurationText(
          std::chrono::seconds(std::max<std::int64_t>(0, entry.end_time - entry.start_time))));
  for (const auto& [name, value] : entry.environment) {
    text += fmt::format("    {}: {}\n", name, value);
  }
  return text + "\n";
}

}  // namespace

void KeepHistory(const Context& context, StackSession& session, const FinishedRun& run) {
  HistoryEntry entry;
  entry.kind = KindOf(run.mode);
  entry.start_time = Seconds(run.start);
  entry.end_time = Seconds(run.end);
  entry.message = context.invocation().Text("message");
  entry.environment = EnvironmentOf(context, session);
  entry.result = run.succeeded ? "succeeded" : "failed";
  for (const auto& [op, count] : run.changes) {
    entry.changes[std::string(StepOpName(op))] = count;
  }
  const bool keep_state = !context.IsTruthy("PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS") &&
                          !context.IsTruthy("PULUMI_DISABLE_CHECKPOINT_BACKUPS");
  Result<std::string> config =
      EffectiveConfigJson(*run.config, session.workspace.project(), run.manager.get());
  Result<void> kept = Fail(ErrorKind::kBug, "not kept");
  if (config) {
    entry.config_json = *std::move(config);
    kept = session.backend->AddHistory(session.stack, entry, keep_state);
  } else {
    kept = Fail(std::move(config).error());
  }
  if (!kept) {
    context.Warn("the run is not in the history: " + kept.error().Text());
  }
}

Result<int> ShowHistory(Context& context) {
  const Invocation& words = context.invocation();
  DAVIT_TRY(const bool output_is_json, WantsJson(context));
  const bool as_json = output_is_json || words.Bool("json");
  DAVIT_TRY(StackSession session, OpenStack(context));
  std::vector<std::string> unread;
  DAVIT_TRY(const std::vector<HistoryEntry> entries,
            session.backend->History(session.stack, &unread));
  for (const std::string& line : unread) {
    context.Warn(line);
  }
  const std::size_t size =
      static_cast<std::size_t>(std::max(1L, words.Number("page-size").value_or(kPageSize)));
  const std::size_t page = static_cast<std::size_t>(std::max(1L, words.Number("page").value_or(1)));
  const std::size_t begin = std::min(entries.size(), (page - 1) * size);
  const std::size_t end = std::min(entries.size(), begin + size);
  if (as_json) {
    JsonWriter json(2);
    json.BeginArray();
    for (std::size_t at = begin; at < end; ++at) {
      DAVIT_TRY_VOID(WriteJson(entries[at], session, words.Bool("show-secrets"), &json));
    }
    context.Out(json.EndArray().Take() + "\n");
    return kExitOk;
  }
  if (begin == end) {
    context.Out(page == 1 ? std::string("Stack has never been updated\n")
                          : fmt::format("No stack updates found on page '{}'\n", page));
  }
  for (std::size_t at = begin; at < end; ++at) {
    context.Out(EntryText(entries[at], words.Bool("full-dates")));
  }
  return kExitOk;
}

Result<int> RefreshConfig(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  std::vector<std::string> unread;
  DAVIT_TRY(const std::vector<HistoryEntry> entries,
            session.backend->History(session.stack, &unread));
  if (entries.empty()) {
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("the stack '{}' has no deployment in its history", session.stack.stack));
  }
  using Config = std::map<std::string, ConfigNode>;
  DAVIT_TRY(const Config config, ConfigOf(entries.front(), session));
  const std::string path = session.file.path();
  DAVIT_TRY(const std::optional<std::string> before, ReadFileIfThere(path));
  if (before && !context.invocation().Bool("force")) {
    std::string backup = path + ".bak";
    while (std::filesystem::exists(backup)) {
      backup += ".bak";
    }
    DAVIT_TRY_VOID(ReplaceFile(backup, *before));
    context.Out(fmt::format("backed up existing configuration file to {}\n", backup));
  }
  const Config present = session.file.config();
  for (const auto& [key, node] : present) {
    if (!config.contains(key)) {
      session.file.Remove(key);
    }
  }
  for (const auto& [key, node] : config) {
    const auto same = present.find(key);
    if (same == present.end() || !(same->second == node)) {
      session.file.Set(key, node);
    }
  }
  const bool has_secrets =
      std::ranges::any_of(config, [](const auto& entry) { return HasSecure(entry.second); });
  if (has_secrets && session.file.encryption_salt().empty()) {
    DAVIT_TRY_VOID(session.ManagerForWriting());
  }
  DAVIT_TRY_VOID(session.file.Save());
  context.Out(fmt::format("refreshed configuration for stack '{}'\n", session.stack.stack));
  return kExitOk;
}

}  // namespace davit
