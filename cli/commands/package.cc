// `package get-schema` and `package info` (C63, C64).

#include <fmt/format.h>

#include <filesystem>

#include "cli/app.h"
#include "cli/commands/commands.h"
#include "cli/commands/shared.h"
#include "cli/display/schema_view.h"
#include "cli/session.h"

namespace davit {
namespace {

namespace fs = std::filesystem;

// A plugin at a path: its folder, and the name that the executable there has.
Result<ProjectPlugin> PluginAt(const fs::path& path) {
  constexpr std::string_view kHead = "pulumi-resource-";
  std::error_code failure;
  if (!fs::exists(path, failure)) {
    return Fail(ErrorKind::kInvalid, fmt::format("there is no '{}'", path.string()));
  }
  ProjectPlugin plugin;
  plugin.kind = "resource";
  if (!fs::is_directory(path, failure)) {
    plugin.path = path.parent_path().string();
    plugin.name = path.filename().string();
  } else {
    plugin.path = path.string();
    for (fs::directory_iterator at(path, failure), end; !failure && at != end;
         at.increment(failure)) {
      const std::string name = at->path().filename().string();
      plugin.name =
          name.starts_with(kHead) && name.find('.') == std::string::npos ? name : plugin.name;
    }
    plugin.name = plugin.name.empty() ? path.filename().string() : plugin.name;
  }
  if (plugin.name.starts_with(kHead)) {
    plugin.name = plugin.name.substr(kHead.size());
  }
  return plugin;
}

bool IsPath(const std::string& source) {
  return source.starts_with("./") || source.starts_with("..") || source.starts_with("/");
}

// C64.
Result<std::string> SchemaOfSource(Context& context) {
  const std::vector<std::string>& words = context.invocation().arguments;
  if (words.size() > 1) {
    return Fail(ErrorKind::kUnimplemented,
                fmt::format("davit cannot pass the parameter '{}' to a provider yet", words[1]));
  }
  const fs::path path = (fs::path(context.directory()) / words[0]).lexically_normal();
  if (words[0].ends_with(".json")) {
    DAVIT_TRY(const std::optional<std::string> text, ReadFileIfThere(path.string()));
    return text ? Result<std::string>(*text)
                : Result<std::string>(Fail(ErrorKind::kInvalid,
                                           fmt::format("there is no file '{}'", path.string())));
  }
  if (words[0].ends_with(".yaml") || words[0].ends_with(".yml")) {
    return Fail(ErrorKind::kUnimplemented, "davit reads schemas in JSON only");
  }
  const bool is_in_project = !FindProjectFile(context.directory()).empty();
  Result<Workspace> opened = is_in_project
                                 ? OpenWorkspace(context)
                                 : Workspace::Without(context.directory(), context.environment());
  DAVIT_TRY(const Workspace workspace, std::move(opened));
  AppOptions options;
  options.context = &context;
  options.workspace = &workspace;
  PackageDescriptor package;
  if (IsPath(words[0])) {
    DAVIT_TRY(ProjectPlugin plugin, PluginAt(path));
    package.name = plugin.name;
    options.plugins.push_back(std::move(plugin));
  } else {
    const std::size_t at = words[0].find('@');
    package.name = words[0].substr(0, at);
    package.version = at == std::string::npos ? "" : words[0].substr(at + 1);
  }
  DAVIT_TRY(const std::unique_ptr<App> app, App::Create(std::move(options)));
  Result<std::string> schema = app->SchemaOf(package);
  app->Close(nullptr);
  return schema;
}

}  // namespace

Result<int> GetPackageSchema(Context& context) {
  DAVIT_TRY(const std::string schema, SchemaOfSource(context));
  DAVIT_TRY(const std::string text, IndentedJson(schema));
  context.Out(text + "\n");
  return kExitOk;
}

Result<int> ShowPackage(Context& context) {
  const Invocation& words = context.invocation();
  SchemaQuestion question;
  question.module = words.Text("module");
  question.resource = words.Text("resource");
  question.function = words.Text("function");
  if (!question.resource.empty() && !question.function.empty()) {
    return Fail(ErrorKind::kInvalid, "only one of --resource and --function may be given");
  }
  DAVIT_TRY(const std::string schema, SchemaOfSource(context));
  DAVIT_TRY(const std::string text, SchemaText(schema, question));
  context.Out(text);
  return kExitOk;
}

}  // namespace davit
