#pragma once
// Old states are brought up to date before anything else happens (E27). Engine thread.

#include "engine/run/run_context.h"

namespace davit {

/// Gives records that name no provider a default one, and provider records without outputs their
/// inputs as outputs. When anything changes, it is durable before the first step; previews change
/// only the context's base.
Task<Result<void>> MigrateState(RunContext& context);

}  // namespace davit
