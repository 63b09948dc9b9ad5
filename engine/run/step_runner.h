#pragma once
// Carries out steps: begin entry, provider call, outputs, end entry, events (E18, E199-E202).
// Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Runs a chain in order and stops at the first failing step. True when every step succeeded;
/// failures are reported. The worker that was acquired for it, if any, is free afterwards: with
/// more than one, as soon as the last provider call has succeeded, while that is still being
/// recorded.
Task<bool> RunChain(RunContext& context, Chain& chain, WorkerSlot slot);

/// Makes a step durable whose call is over, and known to the rest of the run; gives the record as
/// it is stored, null for a delete. An error: it could not be recorded.
Task<Result<StatePtr>> RecordStep(RunContext& context, const Step& step, std::int64_t operation_id);

/// Replaces the outputs of a component whose step is done (E22); the root stack's are held back
/// (E23).
Task<Result<void>> StoreOutputs(RunContext& context, Urn urn, PropertyMap outputs);

}  // namespace davit
