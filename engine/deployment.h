#pragma once
// Entry of the engine: one preview, update, destroy, refresh or import (E13, E14). Everything it
// touches comes in as a seam.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/analyzer.h"
#include "engine/base/cancel.h"
#include "engine/events.h"
#include "engine/ids.h"
#include "engine/import_spec.h"
#include "engine/journal.h"
#include "engine/model/snapshot.h"
#include "engine/provider.h"
#include "engine/source.h"
#include "engine/update_plan.h"
#include "engine/value/asset_hash.h"
#include "engine/view.h"

namespace davit {

enum class DeploymentMode { kUpdate, kDestroy, kRefresh, kImport };

struct DeploymentOptions {
  DeploymentMode mode = DeploymentMode::kUpdate;
  bool preview = false;
  long parallel = 1;                  ///< resource operations in flight (E16)
  std::vector<std::string> targets;   ///< URNs, `*` and `**` wildcards (E120); empty: everything
  bool target_dependents = false;     ///< what depends on a target is a target too (E121)
  std::vector<std::string> excludes;  ///< like `targets`, for what is left alone (E121)
  bool exclude_dependents = false;    ///< what depends on an excluded resource is excluded too
  std::vector<std::string> replaces;  ///< resources to replace whatever their diff says (E128)
  bool refresh_first = false;      ///< `--refresh`: read live state before the program runs (E144)
  bool run_program = false;        ///< refresh and destroy run the program (E147, E153)
  bool continue_on_error = false;  ///< E30
  bool ignore_protect = false;     ///< E154: protected resources are deleted and replaced
  bool exclude_protected = false;  ///< E154: destroy leaves protected resources and what they need
};

/// Provider processes that outlive one run, so that a preview and its update share process and
/// Configure.
class ProviderPool;
std::shared_ptr<ProviderPool> MakeProviderPool(Loop& loop, PluginHost& host);
/// Begins to load a provider that the run will need, while the program is still being read.
void PreloadProvider(ProviderPool& pool, PluginSpec spec);
/// Cancels and closes every provider that the pool still holds (P33).
Task<void> CloseProviders(std::shared_ptr<ProviderPool> pool);

/// Entries of targets, excludes and replacements without wildcard that the state does not know
/// (E131, E137): one error each. Destroy and refresh ask before they start anything.
std::vector<Error> CheckSelection(const Snapshot& base, const DeploymentOptions& options);

/// Protected resources and all that they depend on (E154), sorted.
std::vector<std::string> ProtectedAndNeeded(const Snapshot& base);

struct DeploymentRequest {
  DeploymentOptions options;
  RunInfo info;
  Snapshot base;             ///< the state before; verified by the caller
  Source* source = nullptr;  ///< null for import, destroy and refresh without program
  Journal* journal = nullptr;
  EventSink* events = nullptr;
  Ids* ids = nullptr;
  AssetContent* assets = nullptr;  ///< for the hashes of registered assets (P64)
  std::shared_ptr<ProviderPool> pool;
  ViewBoard* views = nullptr;        ///< where providers report parts of resources; null: nowhere
  StackReader* stacks = nullptr;     ///< for stack references; null: there are none
  MonitorHost* monitors = nullptr;   ///< for plugins that register resources; null: none can (E181)
  const UpdatePlan* plan = nullptr;  ///< what the run is held to (E211); null: nothing
  bool makes_plan = false;           ///< the result has a plan (E198)
  std::vector<std::shared_ptr<Analyzer>> analyzers;  ///< loaded policy packs (E109)
  const std::vector<ImportSpec>* imports = nullptr;  ///< for kImport (E155)
  CancelToken cancel;                                ///< first interrupt (E35)
};

struct DeploymentResult {
  DeploymentResultKind kind = DeploymentResultKind::kSucceeded;
  std::map<StepOp, int> changes;
  PropertyMap outputs;  ///< of the root stack, after the run
  bool maybe_corrupt = false;
  std::vector<StatePtr> imported;  ///< by entry of `imports`; null: that one failed
  std::optional<UpdatePlan> plan;  ///< of what was asked to make one
};

/// Runs the deployment to its end; events tell what happened. The result is an error only for a bug
/// of davit.
Task<DeploymentResult> RunDeployment(DeploymentRequest request);

}  // namespace davit
