#pragma once
// The lock of a stack: flock for other davit processes, and a lock object in Pulumi's form so that
// Pulumi keeps out (S127).

#include <memory>

#include "state/backend/stack_files.h"

namespace davit {

/// Takes the lock without waiting. An error of kind kRefused names the holder.
Result<std::unique_ptr<StackLock>> TakeStackLock(FileLayer& files,
                                                 const StackFiles& paths,
                                                 const StackRef& stack);

/// Removes every lock object of the stack, whoever made it; says how many. Refused while a davit
/// process of this machine holds the stack, as nothing but its end frees that.
Result<int> BreakStackLocks(FileLayer& files, const StackFiles& paths, const StackRef& stack);

}  // namespace davit
