#pragma once
// Finding the executable of a plugin (P1-P10). Blocking file-system work: for the work pool. No
// state.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace davit {

/// A plugin that the project file names (P6).
struct ProjectPlugin {
  std::string kind;  ///< `resource`, `language`, `analyzer`
  std::string name;
  std::string path;     ///< of its directory, absolute
  std::string version;  ///< strict semver, or empty
};

struct DiscoveryOptions {
  std::vector<ProjectPlugin> project_plugins;
  std::map<std::string, std::string>
      environment;  ///< PATH, PULUMI_HOME, HOME and the switches of P7, P9
  std::string
      program_folder;  ///< folder of the running davit, for bundled plugins (P8); empty: none
};

/// Where a plugin was found.
struct FoundPlugin {
  enum class Origin { kProject, kPath, kBundled, kCache };
  Origin origin = Origin::kCache;
  std::string executable;             ///< absolute path; empty: a language host has to run it
  std::string plugin_file;            ///< path of the PulumiPlugin.yaml that names its language (P12)
  std::string directory;              ///< that holds it
  std::string version;                ///< as the place says, or empty
  std::vector<std::string> warnings;  ///< for the user
};

/// P5: project plugins, PATH, next to the program, cache. `version` may be empty. A miss has advice
/// (P10). A place without the executable must have a PulumiPlugin.yaml (P12, P38), unless it is meant
/// to hold a language host.
Result<FoundPlugin> FindPlugin(const DiscoveryOptions& options,
                               const std::string& kind,
                               const std::string& name,
                               const std::string& version);

/// P2: `PULUMI_HOME`, else `.pulumi` in the home folder; empty when neither is known.
std::string PulumiHome(const std::map<std::string, std::string>& environment);
/// Exactly `1` or any casing of `true`.
bool IsTruthy(const std::map<std::string, std::string>& environment, const std::string& name);

}  // namespace davit
