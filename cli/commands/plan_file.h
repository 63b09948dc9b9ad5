#pragma once
// Plan files: `preview --save-plan` and `up --plan` (C18, E198). Blocking.

#include <memory>
#include <string>

#include "cli/session.h"
#include "cli/workspace/effective_config.h"
#include "engine/update_plan.h"

namespace davit {

/// Whether a secret is anywhere in the plan, so that writing it needs a secrets manager.
bool HasSecrets(const UpdatePlan& plan);

struct PlanFileWriting {
  const StackSession* session = nullptr;
  const EffectiveConfig* config = nullptr;
  std::shared_ptr<SecretsManager> manager;  ///< may be null when nothing is secret
  WallTime time;
  bool show_secrets = false;  ///< `--show-secrets`: resource values are written in clear (S51)
};
/// Replaces the file; a new one is for its owner only.
Result<void> WritePlanFile(const std::string& path,
                           UpdatePlan plan,
                           const PlanFileWriting& writing);

/// Errors name the file and what to do. A plan of another stack is refused.
Result<UpdatePlan> ReadPlanFile(const std::string& path,
                                const StackSession& session,
                                std::shared_ptr<SecretsManager> manager);

}  // namespace davit
