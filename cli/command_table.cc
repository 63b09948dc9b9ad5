#include "cli/command_table.h"

namespace davit {
namespace {

using namespace flag_specs;

FlagSpec Message() {
  return Value("message", 'm', "TEXT", "a note for the history");
}
FlagSpec Parallel() {
  return {"parallel",
          'p',
          Kind::kNumber,
          "N",
          "resource operations in flight (default: 4 per CPU)",
          Support::kYes};
}
FlagSpec OutputForm() {
  return Value("output", 0, "default|json", "`json`: one line that sums up the run");
}
FlagSpec LogOfEvents() {
  return Value(
      "event-log", 0, "PATH", "write every event of the run to this file, one JSON object a line");
}

// Flags that `up`, `preview`, `destroy` and `refresh` share (C11, column "updr").
Flags RunFlags() {
  return {
      Stack(),
      ConfigFile(),
      ListOf("config", 'c', "KEY=VALUE", "set configuration first; saved in the stack file"),
      Switch("config-path", 0, "the keys of --config are property paths"),
      Switch("debug", 'd', "also show debug messages"),
      Message(),
      Parallel(),
      ListOf("target", 't', "URN", "only these resources; `*` and `**` are wildcards"),
      Switch("diff", 0, "show every property that changes"),
      Json(),
      OutputForm(),
      Switch("show-sames", 0, "also list what does not change"),
      Switch("show-replacement-steps", 0, "show the halves of replacements"),
      Switch("show-secrets", 0, "show secret values in clear"),
      Switch("show-full-output", 0, "do not shorten long values"),
      Switch("urns", 0, "show whole URNs"),
      Switch("suppress-outputs", 0, "do not show stack outputs"),
      Switch("suppress-progress", 0, "no dots while waiting"),
      Switch("skip-config-validation",
             0,
             "do not compare the configuration with the project's declarations"),
      LogOfEvents(),
      NoEffect("suppress-permalink", Kind::kBool, "davit never shows a link"),
      NoEffect("skip-plugin-pre-install", Kind::kBool, "davit never installs plugins ahead"),
      Switch("target-dependents", 0, "also what depends on the targets"),
      Switch("run-program", 0, "run the program while refreshing or destroying"),
      Refused("client", Kind::kText),
  };
}

// `up` has no short form of it (C11).
FlagSpec Exclude(char short_name) {
  return ListOf("exclude", short_name, "URN", "all but these resources; wildcards as in --target");
}
FlagSpec ExcludeDependents() {
  return Switch("exclude-dependents", 0, "also leave out what depends on the excluded");
}
FlagSpec ContinueOnError() {
  return Switch("continue-on-error", 0, "go on with what a failure does not concern");
}

Flags ReplaceFlags() {
  return {ListOf("replace", 0, "URN", "replace these resources even if nothing asks for it"),
          ListOf("target-replace", 0, "URN", "--target and --replace in one")};
}

Flags RefreshFlag() {
  return {Switch("refresh", 'r', "read live state first"),
          Switch("show-config", 0, "show the configuration first"),
          Switch("ignore-protect", 0, "treat protected resources as ordinary")};
}

Flags ChangeFlags() {
  return {Yes(), Switch("skip-preview", 'f', "go straight to the change; implies approval")};
}

FlagSpec PreviewOnly() {
  return Switch("preview-only", 0, "stop after the preview");
}
FlagSpec ExpectNoChanges() {
  return Switch("expect-no-changes", 0, "exit with status 7 when something changes");
}
Flags PolicyFlags() {
  return {
      ListOf("policy-pack", 0, "DIR", "judge the resources by this policy pack"),
      ListOf("policy-pack-config", 0, "FILE", "the configuration of each --policy-pack, as JSON"),
      Switch("show-policy-remediations", 0, "list every correction of a policy")};
}
FlagSpec ShowReads() {
  return Switch("show-reads", 0, "also list reads");
}

// C20. `-f` is the file here.
CommandSpec ImportCommand() {
  return {"import",
          {},
          "[TYPE NAME ID]",
          "take over objects that exist, and print the code for them",
          0,
          3,
          {Value("file", 'f', "FILE", "import what this JSON file lists"),
           Value("parent", 0, "NAME=URN", "the parent, and what the code calls it"),
           Value("provider", 0, "NAME=URN", "the provider, and what the code calls it"),
           ListOf("properties", 0, "NAMES", "accepted; the state has every input all the same"),
           Switch("protect", 0, "protect what is imported (default: true)"),
           Switch("generate-code", 0, "print the code (default: true)"),
           Value("out", 'o', "FILE", "write the code to this file"),
           Stack(),
           ConfigFile(),
           Yes(),
           Switch("skip-preview", 0, "go straight to the import; implies approval"),
           PreviewOnly(),
           Switch("debug", 'd', "also show debug messages"),
           Message(),
           Parallel(),
           Switch("diff", 0, "show every property"),
           Json(),
           OutputForm(),
           Switch("urns", 0, "show whole URNs"),
           Switch("suppress-outputs", 0, "do not show stack outputs"),
           Switch("suppress-progress", 0, "no dots while waiting"),
           LogOfEvents(),
           NoEffect("suppress-permalink", Kind::kBool, "davit never shows a link"),
           NoEffect("skip-plugin-pre-install", Kind::kBool, "davit never installs plugins ahead"),
           Refused("from", Kind::kText),
           Refused("generate-resources", Kind::kText)}};
}

std::vector<CommandSpec> RunCommands() {
  std::vector<CommandSpec> commands;
  commands.push_back(
      {"up",
       {"update"},
       "",
       "create or update the resources of a stack",
       0,
       0,
       Join(Join(Join(Join(Join(RunFlags(), ChangeFlags()), RefreshFlag()), ReplaceFlags()),
                 PolicyFlags()),
            {Exclude(0),
             ExcludeDependents(),
             ContinueOnError(),
             ExpectNoChanges(),
             ShowReads(),
             Refused("secrets-provider", Kind::kText),
             Value("plan", 0, "FILE", "do nothing that this plan of `preview` does not have"),
             Switch("strict", 0, "do nothing that the preview did not show"),
             Refused("attach-debugger", Kind::kBool)})});
  commands.push_back(
      {"preview",
       {"pre"},
       "",
       "show what `up` would do",
       0,
       0,
       Join(Join(Join(Join(RunFlags(), RefreshFlag()), ReplaceFlags()), PolicyFlags()),
            {Exclude('x'),
             ExcludeDependents(),
             ExpectNoChanges(),
             ShowReads(),
             Value("save-plan", 0, "FILE", "write the plan for `up --plan`"),
             Refused("import-file", Kind::kText),
             Refused("attach-debugger", Kind::kBool)})});
  commands.push_back(
      {"destroy",
       {"down", "dn"},
       "",
       "delete the resources of a stack",
       0,
       0,
       Join(Join(Join(RunFlags(), ChangeFlags()), RefreshFlag()),
            {PreviewOnly(),
             Switch("remove", 0, "delete the stack and its configuration afterwards"),
             Exclude('x'),
             Switch("exclude-protected", 0, "leave protected resources and what they need"),
             ContinueOnError()})});
  commands.push_back(
      {"refresh",
       {},
       "",
       "bring the state in line with what exists",
       0,
       0,
       Join(Join(RunFlags(), ChangeFlags()),
            {PreviewOnly(),
             Exclude('x'),
             ExcludeDependents(),
             ExpectNoChanges(),
             Switch("skip-pending-creates", 0, "leave interrupted creates undecided"),
             Switch("clear-pending-creates", 0, "forget interrupted creates"),
             ListOf("import-pending-creates",
                    0,
                    "URN|ID",
                    "adopt what an interrupted create has made: its URN, then "
                    "(again) its id")})});
  commands.push_back(ImportCommand());
  return commands;
}

// A command of the reference; `instead` says what to do without it.
CommandSpec Missing(std::string name, std::string instead) {
  CommandSpec command;
  command.name = std::move(name);
  command.summary = std::move(instead);
  command.is_supported = false;
  return command;
}

std::vector<CommandSpec> MissingCommands() {
  const std::string hosted = "it needs a hosted service, and davit works without one";
  const std::string backend =
      "davit needs no login: name the backend with DAVIT_BACKEND_URL, PULUMI_BACKEND_URL or "
      "`backend.url` in the project file";
  return {
      Missing("config env", hosted),
      Missing("console", hosted),
      Missing("convert", ""),
      Missing("do", ""),
      Missing("env", hosted),
      Missing("login", backend),
      Missing("logout", backend),
      Missing("logs", "davit keeps no log files; PULUMI_DEBUG_GRPC and --event-log record a run"),
      Missing("new", "write a Pulumi.yaml with a name and a runtime, then `davit stack init`"),
      Missing("package add", ""),
      Missing("package gen-sdk", ""),
      Missing("package get-mapping", ""),
      Missing("plugin run", ""),
      Missing("policy", ""),
      Missing("stack migrate", "`davit stack export` and `davit stack import` move a state"),
      Missing("watch", "")};
}

}  // namespace

const std::vector<CommandSpec>& Commands() {
  static const std::vector<CommandSpec> kCommands = [] {
    std::vector<CommandSpec> all = RunCommands();
    for (CommandSpec& command : StackCommands()) {
      all.push_back(std::move(command));
    }
    for (CommandSpec& command : ConfigCommands()) {
      all.push_back(std::move(command));
    }
    for (CommandSpec& command : StateCommands()) {
      all.push_back(std::move(command));
    }
    for (CommandSpec& command : PluginCommands()) {
      all.push_back(std::move(command));
    }
    all.push_back({"cancel",
                   {},
                   "[NAME]",
                   "free a stack from the locks of processes that are gone",
                   0,
                   1,
                   {Stack(), Yes()}});
    all.push_back({"check",
                   {},
                   "",
                   "tell what is wrong with the program, without a deployment",
                   0,
                   0,
                   {Stack(),
                    ConfigFile(),
                    Json(),
                    Value("format", 0, "text|json|sarif", "how to print what was found")}});
    all.push_back({"schema",
                   {},
                   "",
                   "write a JSON Schema with which editors complete and check the program",
                   0,
                   0,
                   {Value("out", 'o', "FILE", "write it to this file")}});
    all.push_back({"whoami",
                   {},
                   "",
                   "print who you are, and where state is kept",
                   0,
                   0,
                   {Switch("verbose", 'v', "also print the backend"), Json()}});
    all.push_back({"about",
                   {},
                   "",
                   "describe davit, the machine, the project and its stack",
                   0,
                   0,
                   {Stack(), Json()}});
    all.push_back(
        {"about env", {}, "", "list the environment variables that davit reads", 0, 0, {}});
    all.push_back({"version", {}, "", "print the version", 0, 0, {}});
    all.push_back({"help", {}, "[COMMAND]", "explain a command", 0, 3, {}});
    for (CommandSpec& command : MissingCommands()) {
      all.push_back(std::move(command));
    }
    return all;
  }();
  return kCommands;
}

const std::vector<FlagSpec>& GlobalFlags() {
  static const std::vector<FlagSpec> kFlags = {
      Value("cwd", 'C', "DIR", "run as if started in DIR"),
      Value("color", 0, "auto|always|never|raw", "colours (default: auto)"),
      Switch("non-interactive", 0, "never ask"),
      Switch("help", 'h', "explain the command"),
      NoEffect("logtostderr", Kind::kBool, "davit keeps no log files"),
      Refused("emoji", Kind::kBool, 'e'),
      Refused("fully-qualify-stack-names", Kind::kBool, 'Q'),
      Refused("disable-integrity-checking", Kind::kBool),
      Refused("logflow", Kind::kBool),
      Refused("verbose", Kind::kNumber, 'v'),
      Refused("tracing", Kind::kText),
      Refused("otel-traces", Kind::kText),
      Refused("profiling", Kind::kText),
      Refused("memprofilerate", Kind::kNumber),
      Refused("tracing-header", Kind::kText),
  };
  return kFlags;
}

}  // namespace davit
