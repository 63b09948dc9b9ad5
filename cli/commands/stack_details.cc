// `stack tag ...` and `stack graph` (C41, C42).

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "cli/commands/commands.h"
#include "cli/commands/shared.h"
#include "cli/json_writer.h"
#include "cli/session.h"
#include "cli/stack_graph.h"
#include "cli/table.h"

namespace davit {
namespace {

using Tags = std::map<std::string, std::string>;

Result<int> ChangeTags(Context& context, const std::function<void(Tags*)>& change) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(Tags tags, session.backend->Tags(session.stack));
  change(&tags);
  DAVIT_TRY_VOID(session.backend->SetTags(session.stack, tags));
  return kExitOk;
}

}  // namespace

Result<int> ListTags(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const Tags tags, session.backend->Tags(session.stack));
  if (context.invocation().Bool("json")) {
    JsonWriter json(2);
    json.BeginObject();
    for (const auto& [name, value] : tags) {
      json.Key(name).String(value);
    }
    context.Out(json.EndObject().Take() + "\n");
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "VALUE"}};
  for (const auto& [name, value] : tags) {
    rows.push_back({name, value});
  }
  context.Out(TableText(rows, 0));
  return kExitOk;
}

Result<int> GetTag(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const Tags tags, session.backend->Tags(session.stack));
  const std::string& name = context.invocation().arguments[0];
  const auto found = tags.find(name);
  if (found == tags.end()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("stack tag '{}' not found for stack '{}'", name, session.stack.stack));
  }
  context.Out(found->second + "\n");
  return kExitOk;
}

Result<int> SetTag(Context& context) {
  const std::vector<std::string>& words = context.invocation().arguments;
  if (words[0].empty()) {
    return Fail(ErrorKind::kInvalid, "the name of a stack tag is empty");
  }
  return ChangeTags(context, [&](Tags* tags) { (*tags)[words[0]] = words[1]; });
}

Result<int> RemoveTag(Context& context) {
  return ChangeTags(context, [&](Tags* tags) { tags->erase(context.invocation().arguments[0]); });
}

Result<int> DrawStack(Context& context) {
  const Invocation& words = context.invocation();
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const LoadedStack loaded, session.LoadMasked());
  const auto color = [&](const char* flag, const char* usual) {
    return words.IsSet(flag) ? words.Text(flag) : std::string(usual);
  };
  StackGraphOptions options;
  options.parents = !words.Bool("ignore-parent-edges");
  options.dependencies = !words.Bool("ignore-dependency-edges");
  options.short_names = words.Bool("short-node-name");
  options.parent_color = color("parent-edge-color", "#AA6639");
  options.dependency_color = color("dependency-edge-color", "#246C60");
  options.fragment = words.Text("dot-fragment");
  const std::string& file = words.arguments[0];
  DAVIT_TRY_VOID(ReplaceFile((std::filesystem::path(context.directory()) / file).string(),
                             StackGraphText(loaded.snapshot, options)));
  context.Err(fmt::format("Wrote stack dependency graph to `{}`\n", file));
  return kExitOk;
}

}  // namespace davit
