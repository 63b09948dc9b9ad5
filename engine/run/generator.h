#pragma once
// The serial generator (E15, E59): takes registrations one at a time and turns each into a chain of steps. Engine thread.

#include <deque>

#include "engine/run/run_context.h"
#include "engine/run/step_runner.h"

namespace davit {

/// A registration after the monitor's preprocessing (E57): provider resolved, options inherited.
struct Registration {
  Goal goal;
  Urn urn;
  bool is_read = false;
  std::string read_id;
  Completion<Result<RegisterResponse>> reply;
};

class Generator {
 public:
  explicit Generator(RunContext& context) : context_(context), chains_(context.loop) {}

  /// Queues a registration; its reply is set when its steps are done or the run has stopped.
  void Submit(std::shared_ptr<Registration> registration);
  /// Looks again whether to go on (the program ended, the run was cancelled).
  void Wake();
  /// No more registrations will come.
  void ProgramEnded();
  /// Serves registrations until the program has ended and every chain is done.
  Task<void> Run();

 private:
  Task<void> Serve(std::shared_ptr<Registration> registration);
  Task<Result<Chain>> Plan(Registration& registration);
  Task<Result<Chain>> PlanRead(Registration& registration, std::shared_ptr<ResourceState> state);
  Task<Result<PropertyMap>> Check(Registration& registration, StatePtr old_state, PropertyMap news, InstancePtr provider,
                                  bool with_olds, std::string seed);
  Task<Result<DiffDecision>> Diff(const ResourceState& state, StatePtr old_state, InstancePtr provider);
  Task<Result<std::optional<DiffDecision>>> ProviderChange(const ResourceState& state, StatePtr old_state);
  Task<Result<void>> AddDependentDeletes(Chain& chain, StatePtr old_state);
  Task<Result<bool>> RequiresReplacement(StatePtr candidate, const std::set<Urn>& replaced,
                                         std::vector<std::string>* keys);
  Task<Result<Step>> DeleteFirstStep(StatePtr old_state);
  Task<void> RunPlanned(std::shared_ptr<Registration> registration, std::shared_ptr<Chain> chain);
  void Refuse(Error error, const Urn& urn);

  RunContext& context_;
  Scope chains_;
  std::deque<std::shared_ptr<Registration>> queue_;
  Gate* waiting_ = nullptr;
  bool program_ended_ = false;
};

/// The provider that a delete or a refresh of an old record needs, loaded from the state (E28, E168); null for components and
/// provider resources.
Task<Result<InstancePtr>> ProviderForOld(RunContext& context, StatePtr state);

}  // namespace davit
