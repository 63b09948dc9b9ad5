#pragma once
// The serial generator (E15, E59): takes registrations one at a time and turns each into a chain of
// steps. Engine thread.

#include <deque>

#include "engine/base/waiting.h"
#include "engine/run/carry_forward.h"
#include "engine/run/planner.h"
#include "engine/run/step_runner.h"

namespace davit {

class Generator {
 public:
  explicit Generator(RunContext& context)
      : context_(context), chains_(context.loop), asked_(context.loop) {}

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
  Task<void> RunPlanned(std::shared_ptr<Registration> registration,
                        std::shared_ptr<Plan> plan,
                        std::unique_ptr<ChainGates> gates,
                        WorkerSlot slot);
  void Answer(Registration& registration, const Plan& plan);
  Task<void> AnswerSkipped(std::shared_ptr<Registration> registration);
  void Refuse(Error error, const Urn& urn);

  RunContext& context_;
  Planner planner_{context_};
  Scope chains_;
  Scope asked_;  ///< questions asked ahead
  Semaphore ahead_{context_.request.options.parallel};
  std::deque<std::shared_ptr<Registration>> queue_;
  Gate* waiting_ = nullptr;
  bool program_ended_ = false;
  int continuations_ = 0;  ///< registrations whose first steps run and that come back (E15)
};

}  // namespace davit
