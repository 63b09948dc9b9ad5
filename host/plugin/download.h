#pragma once
// Where plugins are downloaded from, and the download itself, which the program `curl` does
// (P14-P17). Blocking.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct PluginOrigin {
  std::string kind;
  std::string name;
  std::string version;  ///< strict semver; for LatestPluginVersion empty
  std::string server;   ///< download URL of the plugin; empty: the usual places (P15)
};

/// One place to try. `headers` may hold credentials.
struct DownloadPlace {
  std::string url;
  std::vector<std::string> headers;
};

/// The machine's architecture as plugins and the history name it: `amd64`, `arm64`.
std::string MachineName();
/// P14: `pulumi-<kind>-<name>-v<version>-<os>-<arch>.tar.gz`.
std::string PluginAssetName(const PluginOrigin& origin);
/// The places of an archive, best first (P15, P16). Schemes that davit does not support are refused
/// by name.
Result<std::vector<DownloadPlace>> PluginPlaces(
    const PluginOrigin& origin, const std::map<std::string, std::string>& environment);
/// Asks the source for the newest version (P15).
Result<std::string> LatestPluginVersion(const PluginOrigin& origin,
                                        const std::map<std::string, std::string>& environment);

/// Downloads into `path`, going on behind what an interrupted download left there. At most five
/// attempts (P17); a place that has no such file, or refuses it, is not asked twice.
Result<void> Download(const std::vector<DownloadPlace>& places, const std::string& path);

}  // namespace davit
