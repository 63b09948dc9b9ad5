#pragma once
// What a command that works on a stack opens first: project, backend, stack, stack file, secrets.
// Blocking.

#include <memory>
#include <string>

#include "cli/context.h"
#include "cli/workspace/stack_file.h"
#include "cli/workspace/stack_secrets.h"
#include "cli/workspace/workspace.h"
#include "state/backend/backend.h"

namespace davit {

/// The text of `davit version` and of `manifest.version`.
std::string VersionText();

struct StackSession {
  Workspace workspace;
  std::unique_ptr<Backend> backend;
  StackRef stack;
  StackFile file;
  std::unique_ptr<StackSecrets> secrets;

  /// The state with the text `[secret]` in place of every secret; only for looking at.
  Result<LoadedStack> LoadMasked() const;
  /// The stack file's manager, else that of the state; null when there is none. Reads the state
  /// only if it must.
  Result<std::shared_ptr<SecretsManager>> Manager();
  /// Manager(), or a new one whose salt goes to the stack file (not saved yet).
  Result<std::shared_ptr<SecretsManager>> ManagerForWriting();
};

Result<Workspace> OpenWorkspace(const Context& context);
Result<std::unique_ptr<Backend>> OpenWorkspaceBackend(const Workspace& workspace);
std::unique_ptr<StackSecrets> MakeSecrets(const Context& context);
/// Path of the stack's configuration file, `--config-file` included (C5).
std::string ConfigPath(const Context& context,
                       const Workspace& workspace,
                       const std::string& stack);
/// The stack of this name, else that of `--stack`, else the selected one; an error that names
/// `stack select` and `stack init` (C4).
Result<StackRef> ChosenStack(Context& context,
                             const Workspace& workspace,
                             const std::string& named = "");
/// Everything, for a stack that exists; otherwise status 6 with advice.
Result<StackSession> OpenStack(Context& context, const std::string& named = "");

}  // namespace davit
