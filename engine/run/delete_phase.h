#pragma once
// What a run deletes at its end, and in which order (E24-E28, E32, E129). Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Deletes what the program no longer registers (all records in a destroy), batch by batch.
/// Failures are reported.
Task<void> RunDeletePhase(RunContext& context);

}  // namespace davit
