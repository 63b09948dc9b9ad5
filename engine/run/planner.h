#pragma once
// From one registration to its steps (E59): which old record it is, what Check and Diff say, and
// what to do. The only place that decides. Engine thread.

#include "engine/base/waiting.h"
#include "engine/plan/decide_step.h"
#include "engine/run/look_ahead.h"
#include "engine/run/run_context.h"

namespace davit {

/// A registration after the monitor's preprocessing (E57): provider resolved, options inherited.
struct Registration {
  Goal goal;
  Urn urn;
  bool is_read = false;
  std::string read_id;
  Completion<Result<RegisterResponse>> reply;

  // --- when it comes back after its first steps (E15)

  bool is_resumed = false;
  StatePtr old_state;         ///< the record that the first steps read; null: the object is gone
  bool was_imported = false;  ///< E66
  std::string seed;           ///< E71: one for all Check calls of a registration
  std::shared_ptr<LookAhead> ahead;  ///< null: nothing was asked ahead
};

/// What to do for a registration.
struct Plan {
  Chain chain;
  bool resumes = false;     ///< the registration is planned again when the chain is done
  bool is_skipped = false;  ///< E30: something that it depends on failed; nothing is done
};

class Planner {
 public:
  explicit Planner(RunContext& context) : context_(context) {}

  /// Plans a registration. An error that is reported already is a bail (E12).
  Task<Result<Plan>> Make(Registration& registration);

 private:
  /// What one registration is planned with.
  struct Work {
    Registration& registration;
    std::shared_ptr<ResourceState> state;
    StatePtr old_state;
    Urn renamed_from;
    std::optional<Error> conflict;  ///< E50
    InstancePtr provider;
    bool is_recreated = false;  ///< D1
    bool is_forced = false;     ///< E81
  };

  Result<void> Admit(const Registration& registration);
  void FindOld(Work& work);
  Task<Result<Plan>> MakeFor(Work& work);
  Task<Result<Plan>> MakeRead(Work& work);
  Task<Result<void>> PrepareRefresh(Work& work);
  Plan MakeRefresh(Work& work);
  Plan MakeImport(Work& work);
  Result<Plan> MakeUntargeted(Work& work);
  Plan MakeSame(Work& work, bool is_skipped_create);
  Result<void> CheckSkippedDependencies(const Work& work);
  static bool ComparesInputs(const Work& work);
  Task<Result<void>> CheckInputs(Work& work);
  Task<Result<Plan>> Decide(Work& work);
  Task<Result<void>> PrepareReplacement(Work& work,
                                        const DiffDecision& diff,
                                        StepRow row,
                                        Chain& chain);
  Step StepFor(const Work& work, StepOp op) const;

  RunContext& context_;
};

}  // namespace davit
