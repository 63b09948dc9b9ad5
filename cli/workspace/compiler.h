#pragma once
// Programs that a tool writes as YAML or JSON (Y6). Blocking; the command's thread.

#include <string>
#include <vector>

#include "cli/options.h"
#include "engine/base/result.h"

namespace davit {

/// Splits a command line as a shell does, quotes and backslashes included; nothing is expanded.
Result<std::vector<std::string>> ShellWords(const std::string& command);

/// Runs `command` in `folder`, without a shell; the result is what it printed. The error of one that
/// fails holds what it printed to stderr.
Result<std::string> RunCompiler(const std::string& command,
                                const std::string& folder,
                                const Environment& environment);

}  // namespace davit
