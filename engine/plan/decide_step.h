#pragma once
// The table of rule E59: from an old record and a diff to steps. Pure.

#include <optional>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/model/resource_state.h"
#include "engine/plan/diff_decision.h"

namespace davit {

/// What is known about one registration when its steps are decided.
struct StepQuestion {
  const ResourceState* old_state = nullptr;  ///< null: no old record
  bool was_deleted_first =
      false;  ///< deleted earlier in this run by somebody's delete-before-replace (D1)
  /// Its object is deleted already: by an earlier run, or by another's delete-before-replace while the program calls it
  /// by a new URN (E90, E93).
  bool is_gone = false;
  DiffDecision diff;  ///< meaningful when there is an old record that is diffed
  std::optional<bool> delete_before_replace;  ///< the option; unset: the provider decides (E88)
};

/// Which row of the table holds; the names are those of E59. Rows D3 and D9 are decided before, from the selection.
enum class StepRow {
  kRecreate,            ///< D1
  kReplaceExternal,     ///< D2
  kReplaceDeleteFirst,  ///< D4
  kReplaceCreateFirst,  ///< D5
  kUpdate,              ///< D6, D7
  kSame,                ///< D8
  kCreate,              ///< D10
};

StepRow DecideStep(const StepQuestion& question);

/// The operations of a row, in order, without the deletes of dependents and of the end phase.
std::vector<StepOp> OpsOf(StepRow row, bool old_is_pending_replacement);

/// What Check is asked with (E68): the old side is empty unless the record is compared with its old
/// self.
struct CheckInputs {
  PropertyMap olds;
  PropertyMap old_outputs;
};
CheckInputs PrepareCheck(const ResourceState* old_state, bool is_recreated, bool is_forced);

}  // namespace davit
