#pragma once
// From the old layout of a store, without projects, to the present one (S119, S152). Blocking.

#include <string>
#include <vector>

#include "state/backend/stack_files.h"

namespace davit {

/// Moves every stack with its backup, history and backups under its project, which the URNs in it
/// name. Says how many; a stack that cannot be moved adds a line to `warnings` and stays.
Result<int> UpgradeLayout(FileLayer& files,
                          const std::string& root,
                          std::vector<std::string>* warnings);

}  // namespace davit
