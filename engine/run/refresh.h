#pragma once
// State-only refresh (E138-E146): reads every record from its provider and rebuilds the state.
// Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Refreshes the (targeted) records of the base, in parallel and without order; a failure does not
/// stop the others (E33). Afterwards the context's base is the rebuilt list (E143). `counts`:
/// whether result ops are counted and shown as such (a standalone refresh, E217).
Task<void> RunRefresh(RunContext& context, bool is_standalone);

}  // namespace davit
