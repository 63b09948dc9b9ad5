#pragma once
// How a run keeps to its update plan and writes down a new one (E198, E210-E213): where the pure
// parts of engine/plan meet the state of the run. Engine thread.

#include "engine/run/planner.h"

namespace davit {

/// The planned seed of a registration, else a new one (E71).
std::string SeedFor(RunContext& context, const Urn& urn);
/// A registration with its checked inputs; `compares`: against those of the old record (E210).
Result<void> HoldGoal(RunContext& context,
                      const Registration& registration,
                      const StatePtr& old_state,
                      bool compares,
                      const PropertyMap& inputs);
/// Before an import reads anything.
Result<void> HoldImport(RunContext& context,
                        const Registration& registration,
                        const StatePtr& old_state);
/// The steps of a registration or a delete, in order, before any of them begins (E211). Reads and
/// what prepares the registration (refresh, import) are not part of a plan; neither is what a
/// selection leaves alone, unless the plan lists it (E136).
Result<void> HoldSteps(RunContext& context, const Chain& chain);
/// Outputs that the program registers for a component or the stack (E213).
Result<void> HoldOutputs(RunContext& context, const Urn& urn, const PropertyMap& outputs);
/// E213: planned steps that never came are errors, unless the run failed before.
void ReportLeftovers(RunContext& context);

}  // namespace davit
