#pragma once
// The bulk import (E155-E158): every record stays, what the imports need is made, and then they
// come in rounds, parents before children. Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Imports what the request asks for. Errors are reported and counted in the context.
Task<void> RunImport(RunContext& context);

/// The records of the request's imports, in its order; null: not there, or another object.
std::vector<StatePtr> ImportedRecords(const RunContext& context);

}  // namespace davit
