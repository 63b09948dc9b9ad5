#pragma once
// A step: one operation on one record, planned by the generator and carried out by the step runner.
// Engine thread.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/import_spec.h"
#include "engine/plan/diff_decision.h"
#include "engine/run/provider_pool.h"

namespace davit {

struct Step {
  StepOp op = StepOp::kSame;
  Urn urn;
  StatePtr old_state;
  std::shared_ptr<ResourceState> new_state;  ///< filled in while the step runs; null for deletes
  std::vector<std::string> keys;
  std::vector<std::string> diffs;
  std::optional<std::map<std::string, PropertyDiff>> detailed;
  InstancePtr provider;         ///< null for components and provider resources
  bool is_replacement = false;  ///< a delete that is part of a replacement
  bool marks_pending =
      false;  ///< a delete-first delete: the record stays, flagged `pendingReplacement` (E90)
  bool removes_old =
      false;  ///< a create whose old record is already deleted: it goes when the create succeeds
  bool is_skipped_create = false;    ///< D9: shown as `same`, never stored
  bool is_untargeted = false;        ///< E133: the old record is carried over verbatim
  StepOp result_op = StepOp::kSame;  ///< what a refresh found: same, update or delete (E142)
  const ImportSpec* import = nullptr;  ///< of a bulk import (E158); null: by the option (E65)
  Urn renamed_from;                  ///< the URN under which the record was found (E51)
  bool keeps_place = false;    ///< a refresh of the state, which changes records where they stand
  bool counts_result = false;  ///< a refresh that is all the run does: it counts by its result
  std::vector<struct ReportedView> views;  ///< what the provider has reported on parts (E193)
};

/// A step on a part of the resource, which happened while the call of its owner ran.
struct ReportedView {
  Step step;  ///< planned already
  std::string error;
  bool is_partial = false;  ///< it failed, yet it is to be recorded
};

/// Steps that one worker carries out in order (E16).
using Chain = std::vector<Step>;

}  // namespace davit
