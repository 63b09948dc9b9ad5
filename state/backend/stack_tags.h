#pragma once
// The tags of a stack (S124). Blocking.

#include <map>
#include <string>

#include "state/backend/stack_files.h"

namespace davit {

/// None when there is no file.
Result<std::map<std::string, std::string>> ReadStackTags(FileLayer& files, const StackFiles& paths);
/// No tags: the file goes.
Result<void> WriteStackTags(FileLayer& files,
                            const StackFiles& paths,
                            const std::map<std::string, std::string>& tags);

}  // namespace davit
