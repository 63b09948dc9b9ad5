#pragma once
// The history of a stack: an entry for each run that changed something, and copies of the states
// that runs have left (S145-S147). Blocking.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "state/backend/stack_files.h"

namespace davit {

/// S146: newest first. What does not read is left out; `unread` gets a line for it.
Result<std::vector<HistoryEntry>> ReadStackHistory(FileLayer& files,
                                                   const StackFiles& paths,
                                                   std::vector<std::string>* unread);
/// Adds an entry; with `keep_state` the checkpoint is copied to the backups, too.
Result<void> AddToStackHistory(FileLayer& files,
                               const StackFiles& paths,
                               const StackRef& stack,
                               const HistoryEntry& entry,
                               bool keep_state);

}  // namespace davit
