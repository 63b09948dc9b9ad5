#pragma once
// What several commands need: deleting a stack, times as text.

#include <string>

#include "cli/session.h"

namespace davit {

/// Deletes the stack and, unless kept, its configuration file; the stack is then not selected any
/// more (S150).
Result<void> DeleteStack(StackSession& session, bool force, bool preserve_config);
/// The same while the caller holds the lock.
Result<void> DeleteLockedStack(StackSession& session, bool force, bool preserve_config);

/// `2006-01-02T15:04:05.000Z` (C65).
std::string JsonTime(WallTime time);
/// `just now`, `5 minutes ago`, ...
std::string AgoText(WallTime time);

}  // namespace davit
