#include "engine/plan/plan_recorder.h"

#include "engine/plan/plan_diff.h"

namespace davit {

void PlanRecorder::Goal(const Urn& urn,
                        const davit::Goal& goal,
                        const PropertyMap& old_inputs,
                        const PropertyMap& inputs,
                        const std::string& seed) {
  if (!is_on_) {
    return;
  }
  PlannedGoal planned;
  planned.type = goal.type;
  planned.name = goal.name;
  planned.custom = goal.custom;
  planned.input_diff = DiffForPlan(old_inputs, inputs);
  planned.parent = goal.parent;
  planned.protect = goal.protect.value_or(false);
  planned.dependencies = goal.dependencies;
  planned.provider = goal.provider;
  planned.property_dependencies = goal.property_dependencies;
  planned.delete_before_replace = goal.delete_before_replace;
  planned.ignore_changes = goal.ignore_changes;
  planned.additional_secret_outputs = goal.additional_secret_outputs;
  planned.aliases = goal.aliases;
  planned.import_id = goal.import_id;
  planned.custom_timeouts = goal.custom_timeouts;
  ResourcePlan& entry = plan_.resources[urn];
  // Steps that came before its registration stay: another's replacement deleted it first.
  entry.goal = std::move(planned);
  entry.outputs = PropertyMap();
  entry.seed = seed;
}

void PlanRecorder::Step(const Urn& urn, StepOp op) {
  if (!is_on_ || (op == StepOp::kSame && !plan_.resources.contains(urn))) {
    return;
  }
  plan_.resources[urn].steps.push_back(op);
}

void PlanRecorder::Outputs(const Urn& urn, const PropertyMap& outputs) {
  const auto at = plan_.resources.find(urn);
  if (is_on_ && at != plan_.resources.end() && at->second.goal) {
    at->second.outputs = outputs;
  }
}

void PlanRecorder::ComponentOutputs(const Urn& urn,
                                    const PropertyMap& old_outputs,
                                    const PropertyMap& outputs) {
  const auto at = plan_.resources.find(urn);
  if (is_on_ && at != plan_.resources.end() && at->second.goal) {
    at->second.goal->output_diff = DiffForPlan(old_outputs, outputs);
    at->second.outputs = outputs;
  }
}

}  // namespace davit
