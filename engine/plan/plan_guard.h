#pragma once
// Holds a run to an update plan (E211-E213). Pure; one object per run, because steps are used up.

#include "engine/base/result.h"
#include "engine/update_plan.h"

namespace davit {

class PlanGuard {
 public:
  /// Takes a copy of the plan; null: everything is allowed.
  explicit PlanGuard(const UpdatePlan* plan);

  bool is_on() const { return plan_.has_value(); }
  /// The planned seed, empty when there is none (E71).
  std::string SeedOf(const Urn& urn) const;

  /// The options that a registration comes with, in the order of E212. Without an entry nothing may
  /// differ from `old_state`, which may be null: then the create is refused as a step.
  Result<void> CheckOptions(const Urn& urn, const Goal& goal, const ResourceState* old_state) const;
  /// An import that the plan does not know of is refused before the object is read.
  Result<void> CheckImport(const Urn& urn) const;
  /// The options, then the checked inputs against those before (E210, E212).
  Result<void> CheckGoal(const Urn& urn,
                         const Goal& goal,
                         const ResourceState* old_state,
                         const PropertyMap& old_inputs,
                         const PropertyMap& inputs) const;
  /// Uses up the next step of the URN (E211).
  Result<void> Take(const Urn& urn, StepOp op);
  /// The outputs of a component against those before (E213).
  Result<void> CheckOutputs(const Urn& urn,
                            const PropertyMap& old_outputs,
                            const PropertyMap& outputs) const;
  /// One error for each resource with steps that never came; `is_known` says whether a URN is in
  /// the old state (E213).
  template <typename IsKnown>
  std::vector<Error> Leftovers(const IsKnown& is_known) const {
    std::vector<Error> errors;
    if (plan_) {
      for (const auto& [urn, entry] : plan_->resources) {
        const bool is_deleted_already =
            entry.steps.size() == 1 && entry.steps.front() == StepOp::kDelete && !is_known(urn);
        if (!entry.steps.empty() && !is_deleted_already) {
          errors.push_back(Missing(urn, entry.steps));
        }
      }
    }
    return errors;
  }

 private:
  static Error Missing(const Urn& urn, const std::vector<StepOp>& steps);
  const ResourcePlan* Find(const Urn& urn) const;

  std::optional<UpdatePlan> plan_;
};

/// Whether a step may stand where the plan has `planned` (E211).
bool IsStepAllowed(StepOp op, StepOp planned);

}  // namespace davit
