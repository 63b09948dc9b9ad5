#include "cli/stack_states.h"

#include <fmt/format.h>

#include "cli/session.h"

namespace davit {

Task<Result<Snapshot>> StackStates::Read(std::string name) {
  co_return Load(name);
}

Result<Snapshot> StackStates::Load(const std::string& name) const {
  DAVIT_TRY(const StackRef stack, ParseStackRef(name, workspace_.project().name));
  // A backend of its own: that of the run is busy on another thread.
  DAVIT_TRY(const std::unique_ptr<Backend> backend, OpenWorkspaceBackend(workspace_));
  DAVIT_TRY(const bool exists, backend->Exists(stack));
  if (!exists) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the stack '{}' does not exist in {}", name, backend->url()),
                "check the name; `davit stack ls --all` lists those that exist");
  }
  const std::unique_ptr<StackSecrets> secrets = MakeSecrets(context_);
  DAVIT_TRY(LoadedStack loaded, backend->Load(stack, secrets->Opener(), false));
  return std::move(loaded.snapshot);
}

}  // namespace davit
