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

/// Makes the steps of a chain known while it is carried out under a selection.
class ChainGates {
 public:
  ChainGates(RunContext& context, const Chain& chain);
  ChainGates(const ChainGates&) = delete;
  ChainGates& operator=(const ChainGates&) = delete;
  ~ChainGates();
  /// Waits until what the untargeted records of the chain depend on has been recorded: the program
  /// need not depend on it any more, yet the record does, and must come after it (E133).
  Task<void> WaitForOthers(const Chain& chain);

 private:
  RunContext& context_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::vector<Urn> urns_;
};

/// Whether a registration takes part however the run is targeted: providers, the root stack (E123) and
/// in a destroy, which makes nothing of them, custom resources: their records refer to what the
/// program does.
bool IsAlwaysIncluded(const RunContext& context, const Urn& urn, const Goal& goal);

}  // namespace davit
