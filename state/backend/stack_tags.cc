#include "state/backend/stack_tags.h"

#include <fmt/format.h>

#include "state/codec/json_writer.h"

namespace davit {
namespace {

constexpr int kTagsVersion = 1;

}  // namespace

Result<std::map<std::string, std::string>> ReadStackTags(FileLayer& files,
                                                         const StackFiles& paths) {
  std::map<std::string, std::string> tags;
  DAVIT_TRY(const std::optional<std::string> text, files.Read(paths.tags));
  if (!text) {
    return tags;
  }
  JsonReader reader(*text, fmt::format("the tags '{}'", paths.tags));
  double version = 0;
  ReadMembers(reader,
              {{"version", [&] { version = reader.Number(); }}, {"tags", [&] {
                                                                   std::string name;
                                                                   for (reader.EnterObject();
                                                                        reader.NextMember(&name);) {
                                                                     tags[name] = reader.String();
                                                                   }
                                                                 }}});
  reader.ExpectEnd();
  DAVIT_TRY_VOID(reader.Finish());
  if (version != kTagsVersion) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the tags '{}' have the version {}", paths.tags, version),
                "davit knows version 1; update davit");
  }
  return tags;
}

Result<void> WriteStackTags(FileLayer& files,
                            const StackFiles& paths,
                            const std::map<std::string, std::string>& tags) {
  if (tags.empty()) {
    return RemoveWithSidecar(files, paths.tags);
  }
  std::string text;
  JsonObjectWriter object(&text);
  *object.Key("version") += std::to_string(kTagsVersion);
  JsonObjectWriter members(object.Key("tags"));
  for (const auto& [name, value] : tags) {
    members.String(name, value);
  }
  members.End();
  object.End();
  DAVIT_TRY_VOID(files.MakeFolder(FolderOf(paths.tags)));
  DAVIT_TRY_VOID(files.Remove(paths.tags + ".attrs"));
  return ReplaceFile(files, paths.tags, text);
}

}  // namespace davit
