#include "cli/options.h"

namespace davit {
namespace {

using Kind = FlagSpec::Kind;
using Support = FlagSpec::Support;
using Flags = std::vector<FlagSpec>;

FlagSpec Switch(std::string name, char short_name, std::string help) {
  return {std::move(name), short_name, Kind::kBool, "", std::move(help), Support::kYes};
}
FlagSpec Value(std::string name, char short_name, std::string value_name, std::string help) {
  return {std::move(name),
          short_name,
          Kind::kText,
          std::move(value_name),
          std::move(help),
          Support::kYes};
}
FlagSpec ListOf(std::string name, char short_name, std::string value_name, std::string help) {
  return {std::move(name),
          short_name,
          Kind::kList,
          std::move(value_name),
          std::move(help),
          Support::kYes};
}
FlagSpec Refused(std::string name, Kind kind, char short_name = 0) {
  return {std::move(name), short_name, kind, "VALUE", "", Support::kRefused};
}
FlagSpec NoEffect(std::string name, Kind kind, std::string help) {
  return {std::move(name), 0, kind, "VALUE", std::move(help), Support::kNoEffect};
}

Flags Join(Flags first, const Flags& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

FlagSpec Stack() {
  return Value("stack", 's', "NAME", "the stack to use instead of the selected one");
}
FlagSpec ConfigFile() {
  return Value("config-file", 0, "FILE", "use this file instead of Pulumi.<stack>.yaml");
}
FlagSpec ShowSecrets() {
  return Switch("show-secrets", 0, "show secret values in clear");
}
FlagSpec Json() {
  return Switch("json", 'j', "print JSON");
}
FlagSpec Yes() {
  return Switch("yes", 'y', "approve without asking");
}

FlagSpec Message() {
  return Value("message", 'm', "TEXT", "a note for the history (which davit does not keep yet)");
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
       Join(Join(Join(Join(RunFlags(), ChangeFlags()), RefreshFlag()), ReplaceFlags()),
            {Exclude(0),
             ExcludeDependents(),
             ContinueOnError(),
             ExpectNoChanges(),
             ShowReads(),
             Refused("secrets-provider", Kind::kText),
             Value("plan", 0, "FILE", "do nothing that this plan of `preview` does not have"),
             Switch("strict", 0, "do nothing that the preview did not show"),
             Refused("policy-pack", Kind::kList),
             Refused("policy-pack-config", Kind::kList),
             Refused("show-policy-remediations", Kind::kBool),
             Refused("attach-debugger", Kind::kBool)})});
  commands.push_back({"preview",
                      {"pre"},
                      "",
                      "show what `up` would do",
                      0,
                      0,
                      Join(Join(Join(RunFlags(), RefreshFlag()), ReplaceFlags()),
                           {Exclude('x'),
                            ExcludeDependents(),
                            ExpectNoChanges(),
                            ShowReads(),
                            Value("save-plan", 0, "FILE", "write the plan for `up --plan`"),
                            Refused("import-file", Kind::kText),
                            Refused("policy-pack", Kind::kList),
                            Refused("policy-pack-config", Kind::kList),
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

std::vector<CommandSpec> StackCommands() {
  return {
      {"stack",
       {},
       "",
       "show the stack, its resources and outputs",
       0,
       0,
       {Stack(),
        Switch("show-ids", 'i', "also show ids"),
        Switch("show-urns", 'u', "also show URNs"),
        ShowSecrets(),
        Switch("show-name", 0, "show the name and nothing else"),
        Refused("output", Kind::kText)}},
      {"stack init",
       {"stack new", "stack create", "stack setup"},
       "[NAME]",
       "create a stack and select it",
       0,
       1,
       {Stack(),
        Switch("no-select", 0, "do not select it"),
        ConfigFile(),
        Value("secrets-provider", 0, "default|passphrase", "how secrets are encrypted"),
        Yes(),
        Refused("copy-config-from", Kind::kText),
        Refused("teams", Kind::kList)}},
      {"stack ls",
       {},
       "",
       "list stacks",
       0,
       0,
       {Json(),
        Switch("all", 'a', "stacks of every project"),
        Value("project", 'p', "NAME", "stacks of this project"),
        Refused("organization", Kind::kText, 'o'),
        Refused("tag", Kind::kText, 't')}},
      {"stack select",
       {},
       "[NAME]",
       "choose the stack that commands use",
       0,
       1,
       {Stack(),
        Switch("create", 'c', "create it if it does not exist"),
        Value("secrets-provider",
              0,
              "default|passphrase",
              "how secrets are encrypted when it is created")}},
      {"stack unselect", {}, "", "forget the selected stack", 0, 0, {}},
      {"stack rm",
       {"stack remove"},
       "[NAME]",
       "delete a stack, its history and its configuration",
       0,
       1,
       {Stack(),
        Switch("force", 'f', "even if resources remain"),
        Yes(),
        Switch("preserve-config", 0, "keep the stack file"),
        ConfigFile(),
        Refused("remove-backups", Kind::kBool)}},
      {"stack rename",
       {},
       "NEW-NAME",
       "give a stack another name, with its state and its configuration",
       1,
       1,
       {Stack(), ConfigFile()}},
      {"stack output",
       {},
       "[NAME]",
       "show outputs",
       0,
       1,
       {Stack(), Json(), Switch("shell", 0, "print assignments for a shell"), ShowSecrets()}},
      {"stack export",
       {},
       "",
       "print the stack's deployment as JSON",
       0,
       0,
       {Stack(),
        Value("file", 0, "FILE", "write to this file instead of standard output"),
        ShowSecrets(),
        Refused("version", Kind::kText)}},
      {"stack import",
       {},
       "",
       "replace the stack's deployment",
       0,
       0,
       {Stack(),
        Value("file", 0, "FILE", "read this file instead of standard input"),
        Switch("force", 'f', "even if it looks wrong")}},
  };
}

std::vector<CommandSpec> ConfigCommands() {
  const FlagSpec path = Switch("path", 0, "KEY is a path to a property inside a value");
  return {
      {"config",
       {"config ls"},
       "",
       "list configuration",
       0,
       0,
       {Stack(), ConfigFile(), Json(), ShowSecrets(), Refused("open", Kind::kBool)}},
      {"config get",
       {},
       "KEY",
       "print one value, secrets in clear",
       1,
       1,
       {Stack(), ConfigFile(), Json(), path}},
      {"config set",
       {},
       "KEY [VALUE]",
       "set a value; without VALUE it is read from standard input",
       1,
       2,
       {Stack(),
        ConfigFile(),
        path,
        Switch("secret", 0, "store it encrypted"),
        Switch("plaintext", 0, "store it in clear, even if it looks like a secret"),
        Value("type", 0, "string|bool|int|float", "the type in the file"),
        Switch("raw", 0, "keep a newline at the end of piped input")}},
      {"config rm", {}, "KEY", "remove a value", 1, 1, {Stack(), ConfigFile(), path}},
      {"config set-all",
       {},
       "",
       "set several values",
       0,
       0,
       {Stack(),
        ConfigFile(),
        path,
        ListOf("plaintext", 0, "KEY=VALUE", "a value in clear"),
        ListOf("secret", 0, "KEY=VALUE", "a value to encrypt"),
        Refused("json", Kind::kText)}},
      {"config rm-all",
       {},
       "KEY...",
       "remove several values",
       1,
       1000,
       {Stack(), ConfigFile(), path}},
  };
}

std::vector<CommandSpec> StateCommands() {
  const FlagSpec all = Switch("all", 0, "every resource of the stack");
  CommandSpec group;
  group.name = "state";
  group.summary = "correct the state by hand; no provider is asked";
  group.is_group = true;
  return {
      group,
      {"state delete",
       {"state rm", "state remove"},
       "[URN...]",
       "forget resources, which go on to exist",
       0,
       1000,
       {Stack(),
        all,
        Switch("force", 0, "protected ones too"),
        Switch("target-dependents", 0, "also what depends on them"),
        Yes()}},
      {"state rename", {}, "URN NAME", "give a resource another name", 2, 2, {Stack(), Yes()}},
      {"state protect",
       {},
       "[URN...]",
       "keep resources from being deleted",
       0,
       1000,
       {Stack(), all, Yes()}},
      {"state unprotect", {}, "[URN...]", "undo it", 0, 1000, {Stack(), all, Yes()}},
      {"state taint",
       {},
       "URN...",
       "have resources replaced by the next update",
       1,
       1000,
       {Stack(), Yes()}},
      {"state untaint", {}, "[URN...]", "undo it", 0, 1000, {Stack(), all, Yes()}},
  };
}

CommandSpec Missing(std::string name, std::string summary, std::vector<std::string> aliases = {}) {
  CommandSpec command;
  command.name = std::move(name);
  command.aliases = std::move(aliases);
  command.summary = std::move(summary);
  command.is_supported = false;
  return command;
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
    all.push_back({"cancel",
                   {},
                   "[NAME]",
                   "free a stack from the locks of processes that are gone",
                   0,
                   1,
                   {Stack(), Yes()}});
    all.push_back({"version", {}, "", "print the version", 0, 0, {}});
    all.push_back({"help", {}, "[COMMAND]", "explain a command", 0, 3, {}});
    for (const char* name : {"about",
                             "console",
                             "convert",
                             "do",
                             "env",
                             "install",
                             "login",
                             "logout",
                             "logs",
                             "new",
                             "package",
                             "plugin",
                             "policy",
                             "schema",
                             "watch",
                             "whoami",
                             "config cp",
                             "config refresh",
                             "config env",
                             "stack change-secrets-provider",
                             "stack graph",
                             "stack history",
                             "stack migrate",
                             "stack tag",
                             "state edit",
                             "state get",
                             "state move",
                             "state repair",
                             "state upgrade"}) {
      all.push_back(Missing(name, ""));
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
