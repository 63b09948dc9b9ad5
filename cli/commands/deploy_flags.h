#pragma once
// What the flags of `up`, `preview`, `destroy`, `refresh` and `import` ask for (C11, C72, C73).
// Looks at the words and the environment only.

#include <optional>

#include "cli/context.h"
#include "engine/deployment.h"
#include "host/client/analyzer_client.h"

namespace davit {

struct DeployFlags {
  /// For both runs; `preview` and `refresh_first` are set for each run.
  DeploymentOptions options;
  std::optional<bool> refresh;  ///< `--refresh`; without it the project decides (C11)
  bool preview_only = false;
  bool skip_preview = false;
  bool is_approved = false;
  bool expect_no_changes = false;
  std::string save_plan;  ///< file for the plan that `preview` makes (C13); empty: none
  std::string plan;       ///< file of the plan that `up` is held to (C12); empty: none
  std::vector<PolicyPackSpec> policy_packs;  ///< without the text of their configuration
  bool is_strict = false;                    ///< `up` is held to the plan of its own preview (C12)

  /// Whether the program takes part: always in an update, else only when asked for (E147, E153).
  bool NeedsProgram() const {
    return options.mode == DeploymentMode::kUpdate || options.run_program;
  }
  /// Whether some resources are left alone on purpose.
  bool IsPartial() const {
    return !options.targets.empty() || !options.excludes.empty() || options.exclude_protected;
  }
};

/// Refuses what cannot go together (C11, C14, C73, E154) and, with its own exit status, a run that
/// nobody can approve (C72). `preview_only` is true for `preview`.
Result<DeployFlags> ReadDeployFlags(Context& context, DeploymentMode mode, bool preview_only);

}  // namespace davit
