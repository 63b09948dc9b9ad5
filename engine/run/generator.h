#pragma once
// The serial generator (E15, E59): takes registrations one at a time and turns each into a chain of
// steps. Engine thread.

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
  Task<void> RunPlanned(std::shared_ptr<Registration> registration, std::shared_ptr<Chain> chain);
  void Refuse(Error error, const Urn& urn);

  RunContext& context_;
  Scope chains_;
  std::deque<std::shared_ptr<Registration>> queue_;
  Gate* waiting_ = nullptr;
  bool program_ended_ = false;
};

}  // namespace davit
