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

/// Replaces the outputs of a component whose step is done (E22); the root stack's are held back
/// (E23).
Task<Result<void>> StoreOutputs(RunContext& context, Urn urn, PropertyMap outputs);

}  // namespace davit
