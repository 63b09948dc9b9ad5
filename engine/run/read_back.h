#pragma once
// What a refresh learns about one record (E140-E142). Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Reads the object of `step.old_state` and puts what it is now into `step.new_state`, which the
/// caller has made a copy of the record (its URN and provider are used); null when the object is
/// gone. Fills the step's diff and returns the result operation. Components, providers and records
/// whose object is deleted already are left as they are.
Task<Result<StepOp>> ReadBack(RunContext& context, Step& step);

}  // namespace davit
