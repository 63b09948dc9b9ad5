#pragma once
// Hooks around steps and after failed operations (E187-E191, E118). Engine thread.

#include <string>
#include <vector>

#include "engine/run/run_context.h"

namespace davit {

/// Runs the before-hooks of a step; the first error fails the step before any provider call (E188).
Task<Result<void>> RunBeforeHooks(RunContext& context, const Step& step);
/// Runs the after-hooks of a step that is done. An error is for the caller to report: the step
/// stays committed (E188).
Task<Result<void>> RunAfterHooks(RunContext& context, const Step& step);
/// E191: whether a failed operation is to be repeated. `errors`: those so far, newest first.
Task<Result<bool>> RunErrorHooks(RunContext& context,
                                 const Step& step,
                                 std::vector<std::string> errors);
/// E191: how often an operation is tried.
inline constexpr int kMostAttempts = 100;

/// E153: a destroy without the program cannot run delete hooks. Names the first resource with some.
Result<void> CheckNoDeleteHooks(const RunContext& context);

}  // namespace davit
