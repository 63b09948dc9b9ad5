#pragma once
// Writes down what a run plans (E198, E210). Pure; one object per run.

#include "engine/update_plan.h"

namespace davit {

class PlanRecorder {
 public:
  explicit PlanRecorder(bool is_on) : is_on_(is_on) {}
  bool is_on() const { return is_on_; }

  /// A registration; begins the entry anew, so that of one that comes twice the last one counts.
  void Goal(const Urn& urn,
            const davit::Goal& goal,
            const PropertyMap& old_inputs,
            const PropertyMap& inputs,
            const std::string& seed);
  /// A planned step. One that keeps a resource without entry leaves it without one (E136).
  void Step(const Urn& urn, StepOp op);
  /// The record as the step leaves it.
  void Outputs(const Urn& urn, const PropertyMap& outputs);
  /// What a component registered (E210).
  void ComponentOutputs(const Urn& urn, const PropertyMap& old_outputs, const PropertyMap& outputs);

  UpdatePlan Take() { return std::move(plan_); }

 private:
  bool is_on_;
  UpdatePlan plan_;
};

}  // namespace davit
