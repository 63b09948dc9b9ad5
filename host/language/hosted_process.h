#pragma once
// A plugin that a language host runs, as a process whose output and exit come over gRPC (P38).
// Engine thread.

#include <memory>

#include "host/language/language_host.h"

namespace davit {

/// Asks `host` to run a plugin with the arguments, environment and working directory of `child`.
/// Ending it cancels the call; why a call failed is its last line of standard error.
std::unique_ptr<RunningProcess> StartHosted(AsioLoop& loop,
                                            std::shared_ptr<LanguageHost> host,
                                            PluginRun run,
                                            ChildOptions child);

}  // namespace davit
