// `davit check`: all that can be told about a program without a deployment (Y134, Y150, Y159).

#include <fmt/format.h>

#include "cli/app.h"
#include "cli/commands/commands.h"
#include "cli/display/findings.h"
#include "cli/session.h"
#include "cli/workspace/program_files.h"
#include "cli/workspace/stack_file.h"

namespace davit {
namespace {

// The configuration that the program may name without declaring it: the keys of the stack that is
// asked for or selected, and of what the project declares. Values are not looked at.
Result<std::map<std::string, ConfigValue>> KnownKeys(Context& context, const Workspace& workspace) {
  std::map<std::string, ConfigValue> config;
  for (const ConfigDeclaration& declared : workspace.project().config) {
    DAVIT_TRY(std::string key, NormalKey(declared.key, workspace.project().name));
    config.try_emplace(std::move(key));
  }
  std::string stack = context.invocation().Text("stack");
  if (stack.empty()) {
    DAVIT_TRY(stack, workspace.SelectedStack());
  }
  if (stack.empty()) {
    return config;
  }
  DAVIT_TRY(const StackRef chosen, ParseStackRef(stack, workspace.project().name));
  DAVIT_TRY(const StackFile file,
            StackFile::Load(ConfigPath(context, workspace, chosen.stack), workspace.project().name));
  for (const auto& [key, value] : file.config()) {
    config.try_emplace(key);
  }
  return config;
}

Result<Findings> CheckProgram(Context& context, const Workspace& workspace) {
  ProgramLoad load = LoadProgramFiles(
      workspace.project(),
      context.environment(),
      {{"PULUMI_PROJECT", workspace.project().name},
       {"PULUMI_ROOT_DIRECTORY", workspace.project().directory}});
  Findings findings;
  if (load.errors.empty()) {
    AppOptions options;
    options.context = &context;
    options.workspace = &workspace;
    RunInfo info;
    info.project = workspace.project().name;
    info.root_directory = workspace.project().directory;
    info.program_directory = workspace.ProgramDirectory();
    DAVIT_TRY(info.config, KnownKeys(context, workspace));
    DAVIT_TRY(const std::unique_ptr<App> app, App::Create(std::move(options)));
    Result<Findings> checked = app->Check(load, info);
    app->Close(nullptr);
    DAVIT_TRY(findings, std::move(checked));
  }
  findings.errors.insert(findings.errors.begin(), load.errors.begin(), load.errors.end());
  findings.warnings.insert(findings.warnings.begin(), load.warnings.begin(), load.warnings.end());
  return findings;
}

}  // namespace

Result<int> RunCheck(Context& context) {
  std::string format = context.invocation().Text("format");
  format = context.invocation().Bool("json") ? "json" : format.empty() ? "text" : format;
  if (format != "text" && format != "json" && format != "sarif") {
    return Fail(ErrorKind::kInvalid,
                fmt::format("'{}' is no format of a check", format),
                "there are text, json and sarif");
  }
  DAVIT_TRY(const Workspace workspace, OpenWorkspace(context));
  if (workspace.project().runtime != "yaml") {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the program is written for the runtime '{}'; a check reads YAML",
                            workspace.project().runtime),
                "`davit preview` runs the program");
  }
  DAVIT_TRY(const Findings findings, CheckProgram(context, workspace));
  if (format == "json") {
    context.Out(FindingsJson(findings));
  } else if (format == "sarif") {
    context.Out(FindingsSarif(findings, VersionText()));
  } else {
    const std::string& root = workspace.project().directory;
    context.Out(FindingsText(findings, [&root](const std::string& file) {
      const Result<std::optional<std::string>> text =
          ReadFileIfThere(file.starts_with('/') ? file : root + "/" + file);
      return text ? *text : std::nullopt;
    }));
  }
  return findings.errors.empty() ? kExitOk : kExitFailed;
}

}  // namespace davit
