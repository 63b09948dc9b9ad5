#pragma once
// The states of stacks in the workspace's backend, for stack references (E195).

#include <memory>
#include <string>

#include "cli/context.h"
#include "cli/workspace/workspace.h"
#include "engine/source.h"

namespace davit {

/// Reads states as they are stored, without a lock. Blocks shortly on the engine thread. `context` and
/// `workspace` outlive it.
class StackStates final : public StackReader {
 public:
  StackStates(const Context& context, const Workspace& workspace)
      : context_(context), workspace_(workspace) {}
  Task<Result<Snapshot>> Read(std::string name) override;

 private:
  Result<Snapshot> Load(const std::string& name) const;

  const Context& context_;
  const Workspace& workspace_;
};

}  // namespace davit
