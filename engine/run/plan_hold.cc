#include "engine/run/plan_hold.h"

namespace davit {

std::string SeedFor(RunContext& context, const Urn& urn) {
  std::string seed = context.plan_guard.SeedOf(urn);
  return seed.empty() ? context.request.ids->RandomBytes(32) : seed;
}

Result<void> HoldGoal(RunContext& context,
                      const Registration& registration,
                      const StatePtr& old_state,
                      bool compares,
                      const PropertyMap& inputs) {
  const Urn& urn = registration.urn;
  const PropertyMap old_inputs = compares ? old_state->inputs : PropertyMap();
  context.plan_recorder.Goal(urn, registration.goal, old_inputs, inputs, registration.seed);
  return context.plan_guard.CheckGoal(urn, registration.goal, old_state.get(), old_inputs, inputs);
}

Result<void> HoldImport(RunContext& context,
                        const Registration& registration,
                        const StatePtr& old_state) {
  DAVIT_TRY_VOID(context.plan_guard.CheckImport(registration.urn));
  return context.plan_guard.CheckOptions(registration.urn, registration.goal, old_state.get());
}

Result<void> HoldSteps(RunContext& context, const Chain& chain) {
  for (const Step& step : chain) {
    const Urn& urn = context.aliases.Current(step.urn);  // E211: the plan has the new name
    const bool is_read = step.op == StepOp::kRead || step.op == StepOp::kReadReplacement;
    const bool prepares = step.op == StepOp::kRefresh || step.op == StepOp::kImport ||
                          step.op == StepOp::kImportReplacement;
    if (is_read || prepares) {
      return {};  // the rest of the chain belongs to it
    }
    DAVIT_TRY_VOID(context.plan_guard.Take(urn, step.op));
    context.plan_recorder.Step(urn, step.op);
  }
  return {};
}

Result<void> HoldOutputs(RunContext& context, const Urn& urn, const PropertyMap& outputs) {
  const bool is_ignored = context.skipped_creates.contains(urn) ||
                          context.untargeted.contains(urn) ||
                          context.failed_or_skipped.contains(urn);
  if (is_ignored || !context.news.contains(urn)) {  // E22
    return {};
  }
  const auto matched = context.matched.find(urn);
  const PropertyMap before =
      matched == context.matched.end() ? PropertyMap() : matched->second->outputs;
  context.plan_recorder.ComponentOutputs(urn, before, outputs);
  return context.plan_guard.CheckOutputs(urn, before, outputs);
}

void ReportLeftovers(RunContext& context) {
  if (context.stopped() || context.failed()) {
    return;
  }
  const auto is_known = [&](const Urn& urn) { return context.old_by_urn.contains(urn); };
  for (const Error& error : context.plan_guard.Leftovers(is_known)) {
    context.reporter.Report(error);
    context.generator_failed = true;
  }
}

}  // namespace davit
