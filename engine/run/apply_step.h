#pragma once
// What each step asks of its provider (E96-E103). Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Makes the provider call of a step, if it has one, and fills in the new record from the answer.
/// Nothing is recorded yet.
Task<Result<void>> ApplyStep(RunContext& context, Step& step);

/// What to do about a protected resource that is in the way: both ways out (B033).
std::string UnprotectAdvice(const Urn& urn);

/// Takes over what only the object tells, not the program: id, outputs, times (E98).
void KeepObject(ResourceState& state, const ResourceState& old_state);

/// Makes the outputs secret that the options name, and those whose input of that name is (E19).
void MarkSecretOutputs(RunContext& context, ResourceState& state);

}  // namespace davit
