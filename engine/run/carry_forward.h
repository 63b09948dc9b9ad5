#pragma once
// Old records that a constrained run keeps as they are (E24, E126-E134). Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Keeps an old record verbatim (E133).
Step UntargetedSame(const StatePtr& old_state);

/// Adds an untargeted `same` for an old record, after those of all that it depends on, its provider
/// included, as far as nothing in this run has stepped them (E132). A dependency without old record
/// is an error.
Result<void> CarryForward(RunContext& context, const StatePtr& old_state, Chain& chain);

/// Carries forward what the record names and nothing in the run registers (E132, E134).
Result<void> CarryDependencies(RunContext& context, const ResourceState& state, Chain& chain);

}  // namespace davit
