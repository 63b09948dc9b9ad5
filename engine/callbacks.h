#pragma once
// Seam: functions of a program that the engine calls back (P104, P105). A host makes them from
// callback addresses. Engine thread.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/task.h"
#include "engine/model/goal.h"

namespace davit {

struct InvokeGoal;

/// Changes properties and options of a registration; never type, name, parent or kind (E184, E185).
using Transform = std::function<Task<Result<Goal>>(Goal)>;
/// Changes arguments, provider, version and URL of an invoke (E183).
using InvokeTransform = std::function<Task<Result<InvokeGoal>>(InvokeGoal)>;

/// What a hook is told (E190, E191). States may be null; they outlive the call.
struct HookRequest {
  Urn urn;
  std::string id;
  StatePtr old_state;
  StatePtr new_state;
  bool sends_old_outputs = false;
  bool sends_new_outputs = false;
  std::string failed_operation;     ///< of an error hook: `create`, `update`, `delete`
  std::vector<std::string> errors;  ///< likewise, newest first
};
struct HookAnswer {
  std::string error;   ///< empty: all is well
  bool retry = false;  ///< of an error hook
};

/// A hook as a program registers it (E187).
struct Hook {
  std::string name;
  bool is_error_hook = false;
  bool on_dry_run = false;     ///< runs in previews too (E118)
  bool ignore_errors = false;  ///< its errors are warnings (E188)
  std::function<Task<Result<HookAnswer>>(HookRequest)> run;
};

}  // namespace davit
