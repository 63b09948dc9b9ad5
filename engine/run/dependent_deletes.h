#pragma once
// Deletes that come before a replacement: the resource itself and its dependents (E88-E91). Engine
// thread.

#include "engine/run/run_context.h"

namespace davit {

/// The provider that a delete or a refresh of an old record needs, loaded from the state (E28,
/// E168); null for components and provider resources.
Task<Result<InstancePtr>> ProviderForOld(RunContext& context, StatePtr state);

/// The delete of a record that is made again later in this run (E90).
Task<Result<Step>> DeleteFirstStep(RunContext& context, StatePtr old_state);

/// The records that a delete-first replacement of `old_state` would replace too, in list order
/// (E88a, E89).
Task<Result<std::vector<StatePtr>>> ReplacedWith(RunContext& context, StatePtr old_state);

/// Adds the deletes of all dependents that have to go before `old_state` does (E88, E89). A
/// protected one is an error (E91).
Task<Result<void>> AddDependentDeletes(RunContext& context, Chain& chain, StatePtr old_state);

}  // namespace davit
