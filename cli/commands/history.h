#pragma once
// What a run leaves in the history of its stack (S145). Used by deploy.cc.

#include <chrono>
#include <memory>

#include "cli/session.h"
#include "cli/workspace/effective_config.h"
#include "engine/deployment.h"

namespace davit {

struct FinishedRun {
  DeploymentMode mode = DeploymentMode::kUpdate;
  std::chrono::system_clock::time_point start;
  std::chrono::system_clock::time_point end;
  bool succeeded = false;
  std::map<StepOp, int> changes;
  const EffectiveConfig* config = nullptr;
  std::shared_ptr<SecretsManager> manager;  ///< may be null
};

/// Adds an entry, and a copy of the state unless PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS asks
/// for none. A failure is a warning, as the run is over and its state stored.
void KeepHistory(const Context& context, StackSession& session, const FinishedRun& run);

}  // namespace davit
