// `stack init`, `select`, `unselect`, `rm`, `rename`, `ls`: the life of stacks (C32-C36).

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/config_edit.h"
#include "cli/commands/shared.h"
#include "cli/json_writer.h"
#include "cli/session.h"
#include "cli/stack_rename.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace davit {
namespace {

// The name given as argument or by --stack; empty when there is none.
std::string NameGiven(const Context& context) {
  const Invocation& words = context.invocation();
  return words.arguments.empty() ? words.Text("stack") : words.arguments[0];
}

// A new stack gets its secrets manager at once only if the passphrase is at hand; a stack without
// secrets needs none.
Result<std::shared_ptr<SecretsManager>> ManagerOfNewStack(const Context& context,
                                                          StackSession& session) {
  const std::string provider = context.invocation().Text("secrets-provider");
  if (!provider.empty() && provider != "default" && provider != "passphrase") {
    return Fail(ErrorKind::kUnimplemented,
                fmt::format("davit does not support the secrets provider '{}' yet", provider),
                "use passphrase");
  }
  DAVIT_TRY(std::shared_ptr<SecretsManager> manager,
            session.secrets->Resolve(session.file, "", ""));
  DAVIT_TRY(const std::optional<std::string> passphrase, PassphraseFromEnvironment());
  if (!manager && (passphrase || provider == "passphrase")) {
    DAVIT_TRY(manager, session.secrets->Create());
    DAVIT_TRY(const std::string salt, SaltOf(manager->state_json()));
    session.file.ClearSecretsProvider();
    session.file.SetEncryptionSalt(salt);
  }
  return manager;
}

Result<void> CreateStack(
    Context& context, Workspace& workspace, Backend& backend, const StackRef& stack, bool select) {
  if (stack.project != workspace.project().name) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the stack '{}' belongs to the project '{}', this one is '{}'",
                            stack.Text(),
                            stack.project,
                            workspace.project().name));
  }
  DAVIT_TRY(const bool exists, backend.Exists(stack));
  if (exists) {
    return Fail(ErrorKind::kRefused, fmt::format("stack '{}' already exists", stack.Text()));
  }
  const std::string source_name = context.invocation().Text("copy-config-from");
  if (!source_name.empty()) {
    DAVIT_TRY_VOID(OpenStack(context, source_name));  // before anything is made
  }
  DAVIT_TRY(StackFile file,
            StackFile::Load(ConfigPath(context, workspace, stack.stack), stack.project));
  StackSession session{workspace, nullptr, stack, std::move(file), MakeSecrets(context)};
  const std::string salt_before = session.file.encryption_salt();
  DAVIT_TRY(const std::shared_ptr<SecretsManager> manager, ManagerOfNewStack(context, session));
  DAVIT_TRY_VOID(backend.Create(stack, manager.get()));
  if (session.file.encryption_salt() != salt_before) {
    DAVIT_TRY_VOID(session.file.Save());
  }
  if (!source_name.empty()) {
    DAVIT_TRY(StackSession source, OpenStack(context, source_name));
    DAVIT_TRY(session.backend, OpenWorkspaceBackend(workspace));
    DAVIT_TRY_VOID(CopyConfig(source, session));
  }
  if (select) {
    DAVIT_TRY_VOID(workspace.SelectStack(stack.stack));
  }
  context.Err(fmt::format("Created stack '{}'\n", stack.stack));
  return {};
}

// C32: `name`, or `name=value`.
Result<void> KeepTagged(Backend& backend,
                        const std::string& filter,
                        std::vector<StackSummary>* stacks) {
  const std::size_t equals = filter.find('=');
  std::vector<StackSummary> kept;
  for (StackSummary& stack : *stacks) {
    using StackTags = std::map<std::string, std::string>;
    DAVIT_TRY(const StackTags tags, backend.Tags(StackRef{stack.project, stack.name}));
    const auto tag = tags.find(filter.substr(0, equals));
    const bool has_any_value = equals == std::string::npos;
    if (tag != tags.end() && (has_any_value || tag->second == filter.substr(equals + 1))) {
      kept.push_back(std::move(stack));
    }
  }
  *stacks = std::move(kept);
  return {};
}

// C75.
Result<void> ConfirmByName(Context& context, const std::string& warning, const std::string& name) {
  context.Err(warning);
  if (Ask("Please confirm by typing its name: ", false).value_or("") != name) {
    return Fail(ErrorKind::kRefused, "confirmation declined");
  }
  return {};
}

}  // namespace

Result<int> InitStack(Context& context) {
  DAVIT_TRY(Workspace workspace, OpenWorkspace(context));
  std::string name = NameGiven(context);
  if (name.empty() && context.is_interactive()) {
    name = Ask("stack name: ", false).value_or("");
  }
  if (name.empty()) {
    return Fail(ErrorKind::kInvalid, "missing stack name", "for example `davit stack init dev`");
  }
  DAVIT_TRY(const StackRef stack, ParseStackRef(name, workspace.project().name));
  DAVIT_TRY(const std::unique_ptr<Backend> backend, OpenWorkspaceBackend(workspace));
  DAVIT_TRY_VOID(
      CreateStack(context, workspace, *backend, stack, !context.invocation().Bool("no-select")));
  return kExitOk;
}

Result<int> SelectStack(Context& context) {
  DAVIT_TRY(Workspace workspace, OpenWorkspace(context));
  DAVIT_TRY(const std::unique_ptr<Backend> backend, OpenWorkspaceBackend(workspace));
  std::string name = NameGiven(context);
  if (name.empty() && context.is_interactive()) {
    DAVIT_TRY(const std::vector<StackSummary> stacks, backend->List(workspace.project().name));
    for (const StackSummary& stack : stacks) {
      context.Err("  " + stack.name + "\n");
    }
    name = Ask("stack: ", false).value_or("");
  }
  if (name.empty()) {
    return context.Failure(
        kExitNoStack,
        MakeError(ErrorKind::kInvalid, "no stack selected", "specify a stack name with --stack"));
  }
  DAVIT_TRY(const StackRef stack, ParseStackRef(name, workspace.project().name));
  DAVIT_TRY(const bool exists, backend->Exists(stack));
  if (exists) {
    DAVIT_TRY_VOID(workspace.SelectStack(stack.stack));
    return kExitOk;
  }
  if (!context.invocation().Bool("create")) {
    return context.Failure(kExitNoStack,
                           MakeError(ErrorKind::kInvalid,
                                     fmt::format("no stack named '{}' found", name),
                                     fmt::format("`davit stack init {}` creates it", stack.stack)));
  }
  DAVIT_TRY_VOID(CreateStack(context, workspace, *backend, stack, true));
  return kExitOk;
}

Result<int> UnselectStack(Context& context) {
  DAVIT_TRY(Workspace workspace, OpenWorkspace(context));
  DAVIT_TRY_VOID(workspace.SelectStack(""));
  return kExitOk;
}

Result<int> RemoveStack(Context& context) {
  const Invocation& words = context.invocation();
  const bool is_approved = IsApproved(context);
  if (!is_approved && !context.is_interactive()) {
    return Fail(ErrorKind::kRefused, "non-interactive mode requires --yes flag");
  }
  DAVIT_TRY(StackSession session, OpenStack(context, NameGiven(context)));
  const std::string& name = session.stack.stack;
  if (!is_approved) {
    DAVIT_TRY_VOID(ConfirmByName(
        context, fmt::format("This will permanently remove the stack '{}'.\n", name), name));
  }
  DAVIT_TRY_VOID(DeleteStack(
      session, words.Bool("force"), words.Bool("preserve-config"), words.Bool("remove-backups")));
  context.Out(fmt::format("Stack '{}' has been removed!\n", name));
  return kExitOk;
}

// C36, S151, S155. The state is written under the new name before the old one goes.
Result<int> RenameStack(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context));
  DAVIT_TRY(const StackRef renamed,
            ParseStackRef(context.invocation().arguments[0], session.stack.project));
  if (renamed.project != session.stack.project) {
    return Fail(ErrorKind::kUnimplemented,
                fmt::format("davit cannot move the stack '{}' to another project, '{}'",
                            session.stack.stack,
                            renamed.project));
  }
  DAVIT_TRY(const bool exists, session.backend->Exists(renamed));
  const std::string config = ConfigPath(context, session.workspace, renamed.stack);
  const bool moves_config = config != session.file.path();
  if (exists || (moves_config && std::filesystem::exists(config))) {
    return Fail(ErrorKind::kRefused,
                exists ? fmt::format("stack '{}' already exists", renamed.stack)
                       : fmt::format("'{}' already exists", config));
  }
  DAVIT_TRY(const std::unique_ptr<StackLock> old_lock, session.backend->Lock(session.stack));
  DAVIT_TRY(const std::unique_ptr<StackLock> new_lock, session.backend->Lock(renamed));
  DAVIT_TRY(LoadedStack loaded,
            session.backend->Load(session.stack, session.secrets->Opener(), true));
  RenameStackInState(session.stack.stack, renamed.stack, &loaded.snapshot);
  DAVIT_TRY(const std::shared_ptr<SecretsManager> manager,
            session.secrets->Resolve(
                session.file, loaded.snapshot.secrets_type, loaded.snapshot.secrets_state));
  DAVIT_TRY_VOID(session.backend->Create(renamed, manager.get()));
  DAVIT_TRY_VOID(session.backend->Save(renamed, loaded.snapshot, manager));
  std::error_code failure;
  if (moves_config && std::filesystem::exists(session.file.path(), failure)) {
    std::filesystem::rename(session.file.path(), config, failure);
    if (failure) {
      return Fail(
          ErrorKind::kFailed,
          fmt::format(
              "'{}' cannot be renamed to '{}': {}", session.file.path(), config, failure.message()),
          fmt::format("both stacks exist now; rename the file and run `davit stack rm "
                      "--force --preserve-config {}`",
                      session.stack.stack));
    }
  }
  DAVIT_TRY(const std::string selected, session.workspace.SelectedStack());
  DAVIT_TRY_VOID(session.backend->Retire(session.stack, renamed));
  if (selected == session.stack.stack || selected == session.stack.Text()) {
    DAVIT_TRY_VOID(session.workspace.SelectStack(renamed.stack));
  }
  context.Out(fmt::format("Renamed {} to {}\n", session.stack.stack, renamed.stack));
  return kExitOk;
}

// C24.
Result<int> CancelStack(Context& context) {
  DAVIT_TRY(StackSession session, OpenStack(context, NameGiven(context)));
  const std::string& name = session.stack.stack;
  if (!IsApproved(context) && context.is_interactive()) {
    DAVIT_TRY_VOID(ConfirmByName(
        context,
        fmt::format("This will take the locks off the stack '{}'. What a process that is still at "
                    "work writes may then be lost.\n",
                    name),
        name));
  }
  DAVIT_TRY(const int removed, session.backend->BreakLocks(session.stack));
  context.Out(removed == 0 ? fmt::format("The stack '{}' is not locked.\n", name)
                           : fmt::format("The update of stack '{}' has been cancelled: {} lock{} "
                                         "removed.\n",
                                         name,
                                         removed,
                                         removed == 1 ? "" : "s"));
  return kExitOk;
}

Result<int> ListStacks(Context& context) {
  const Invocation& words = context.invocation();
  DAVIT_TRY(Workspace workspace, OpenWorkspace(context));
  DAVIT_TRY(const std::unique_ptr<Backend> backend, OpenWorkspaceBackend(workspace));
  DAVIT_TRY(const std::string selected, workspace.SelectedStack());
  std::optional<std::string> project = workspace.project().name;
  if (words.IsSet("project")) {
    project = words.Text("project");
  } else if (words.Bool("all")) {
    project.reset();
  }
  DAVIT_TRY(std::vector<StackSummary> stacks, backend->List(project));
  if (words.IsSet("tag")) {
    DAVIT_TRY_VOID(KeepTagged(*backend, words.Text("tag"), &stacks));
  }
  std::sort(stacks.begin(), stacks.end(), [](const StackSummary& a, const StackSummary& b) {
    return a.name != b.name ? a.name < b.name : a.project < b.project;
  });
  const auto is_current = [&](const StackSummary& stack) {
    return stack.project == workspace.project().name &&
           (selected == stack.name || selected == StackRef{stack.project, stack.name}.Text());
  };
  if (words.Bool("json")) {
    JsonWriter json(2);
    json.BeginArray();
    for (const StackSummary& stack : stacks) {
      json.BeginObject().Key("name").String(stack.name).Key("current").Bool(is_current(stack));
      if (stack.last_update) {
        json.Key("lastUpdate").String(JsonTime(*stack.last_update));
      }
      if (stack.resource_count) {
        json.Key("resourceCount").Integer(*stack.resource_count);
      }
      json.EndObject();
    }
    json.EndArray();
    context.Out(json.Take() + "\n");
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "LAST UPDATE", "RESOURCE COUNT"}};
  for (const StackSummary& stack : stacks) {
    const bool is_foreign = stack.project != workspace.project().name;
    rows.push_back({(is_foreign ? stack.project + "/" + stack.name : stack.name) +
                        (is_current(stack) ? "*" : ""),
                    stack.last_update ? AgoText(*stack.last_update) : "n/a",
                    stack.resource_count ? std::to_string(*stack.resource_count) : "n/a"});
  }
  context.Out(TableText(rows, 0));
  return kExitOk;
}

}  // namespace davit
