#pragma once
// The plugins that the program of a project needs. Blocking; may start the program's language host.

#include <vector>

#include "cli/context.h"
#include "host/plugin/plugin_cache.h"

namespace davit {

/// What the program names (P117), with its versions and places; without those that davit would find
/// already, unless asked for.
Result<std::vector<PluginInstallation>> NeededPlugins(Context& context, bool with_those_found);

}  // namespace davit
