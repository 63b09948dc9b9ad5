#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "cli/commands/commands.h"
#include "cli/session.h"
#include "cli/terminal.h"

namespace davit {
namespace {

Result<int> ShowVersion(Context& context) {
  context.Out(VersionText() + "\n");
  return kExitOk;
}

Result<int> ShowHelp(Context& context) {
  const std::string name = fmt::format("{}", fmt::join(context.invocation().arguments, " "));
  if (name.empty()) {
    context.Out(HelpText(nullptr));
    return kExitOk;
  }
  DAVIT_TRY(const Invocation asked,
            ParseCommandLine({name.substr(0, name.find(' ')), "--help"}, {}));
  for (const CommandSpec& command : Commands()) {
    if (command.name == name) {
      context.Out(HelpText(&command));
      return kExitOk;
    }
  }
  context.Out(HelpText(asked.command));
  return kExitOk;
}

using Command = Result<int> (*)(Context&);

const std::map<std::string, Command>& CommandFunctions() {
  static const std::map<std::string, Command> kFunctions = {
      {"up", RunUp},
      {"preview", RunPreview},
      {"destroy", RunDestroy},
      {"refresh", RunRefresh},
      {"import", RunImportCommand},
      {"check", RunCheck},
      {"schema", WriteEditorSchema},
      {"stack", ShowStack},
      {"stack init", InitStack},
      {"stack ls", ListStacks},
      {"stack select", SelectStack},
      {"stack unselect", UnselectStack},
      {"stack rm", RemoveStack},
      {"stack rename", RenameStack},
      {"cancel", CancelStack},
      {"stack output", ShowOutputs},
      {"stack export", ExportStack},
      {"stack import", ImportStack},
      {"stack graph", DrawStack},
      {"stack history", ShowHistory},
      {"stack change-secrets-provider", ChangeSecretsProvider},
      {"stack tag ls", ListTags},
      {"stack tag get", GetTag},
      {"stack tag set", SetTag},
      {"stack tag rm", RemoveTag},
      {"config", ListConfig},
      {"config get", GetConfig},
      {"config set", SetConfig},
      {"config rm", RemoveConfig},
      {"config set-all", SetAllConfig},
      {"config rm-all", RemoveAllConfig},
      {"config cp", CopyConfigCommand},
      {"config refresh", RefreshConfig},
      {"state delete", DeleteState},
      {"state rename", RenameState},
      {"state protect", ProtectState},
      {"state unprotect", UnprotectState},
      {"state taint", TaintState},
      {"state untaint", UntaintState},
      {"state get", GetState},
      {"state move", MoveState},
      {"state repair", RepairState},
      {"state edit", EditStateByHand},
      {"state upgrade", UpgradeState},
      {"plugin install", InstallPlugins},
      {"plugin ls", ListPluginsCommand},
      {"plugin rm", RemovePlugins},
      {"install", InstallProject},
      {"provider ls", ListProviders},
      {"package get-schema", GetPackageSchema},
      {"package info", ShowPackage},
      {"whoami", ShowUser},
      {"about", ShowAbout},
      {"about env", ShowVariables},
      {"version", ShowVersion},
      {"help", ShowHelp},
  };
  return kFunctions;
}

Result<std::string> DirectoryOf(const Invocation& words) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path here = fs::current_path(failure);
  const fs::path wanted = (here / words.Text("cwd")).lexically_normal();
  if (failure || !fs::is_directory(wanted, failure)) {
    return Fail(ErrorKind::kInvalid, fmt::format("there is no folder '{}'", wanted.string()));
  }
  const fs::path real = fs::canonical(wanted, failure);
  return (failure ? wanted : real).string();
}

int ReportAndExit(const Error& error, int code) {
  WriteText(STDERR_FILENO, "error: " + error.Text() + "\n");
  return code;
}

int RunCommand(const std::vector<std::string>& words,
               const Environment& environment,
               const std::string& program) {
  Result<Invocation> parsed = ParseCommandLine(words, environment);
  if (!parsed) {
    return ReportAndExit(parsed.error(), kExitFailed);
  }
  if (parsed->wants_help) {
    WriteText(STDOUT_FILENO, HelpText(parsed->command));
    return kExitOk;
  }
  const Result<std::string> directory = DirectoryOf(*parsed);
  if (!directory) {
    return ReportAndExit(directory.error(), kExitFailed);
  }
  const std::string name = parsed->command->name;
  Context context(*std::move(parsed),
                  environment,
                  *directory,
                  std::filesystem::path(program).parent_path().string());
  const Result<int> result = CommandFunctions().at(name)(context);
  if (!result) {
    context.Report(result.error());
    return result.error().kind == ErrorKind::kBug ? static_cast<int>(kExitBug)
                                                  : context.failure_code();
  }
  return *result;
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& words,
                   const Environment& environment,
                   const std::string& program) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return RunCommand(words, environment, program);
  } catch (const std::exception& exception) {
    WriteText(STDERR_FILENO, fmt::format("error: this is a bug of davit: {}\n", exception.what()));
    return kExitBug;
  }
}

}  // namespace davit
