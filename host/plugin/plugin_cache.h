#pragma once
// The folder of installed plugins: listing, installing, removing (P2-P4, P19, P20). Blocking; safe
// against other processes that install at the same time, the reference engine included.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct CachedPlugin {
  std::string kind;
  std::string name;
  std::string version;
  std::string directory;
  std::uintmax_t size = 0;  ///< of all files in it, bytes
  std::chrono::system_clock::time_point installed;
  std::chrono::system_clock::time_point last_used;
};

/// P1: `resource`, `language`, `analyzer`, `converter`, `tool`.
bool IsPluginKind(const std::string& kind);

/// Everything installed, by name and then newest first (P3, P20). Half-installed plugins are not.
Result<std::vector<CachedPlugin>> ListPlugins(
    const std::map<std::string, std::string>& environment);

/// Removes the folder and what stands beside it (P20).
Result<void> RemovePlugin(const CachedPlugin& plugin);

struct PluginInstallation {
  std::string kind;
  std::string name;
  std::string version;   ///< strict semver
  std::string server;    ///< P15; empty: the usual places
  std::string file;      ///< absolute path of an archive, folder or executable; empty: download
  std::string checksum;  ///< SHA-256 of the archive in hexadecimal digits; empty: not checked
  bool reinstall = false;
};

/// Installs a plugin unless it is there; says whether it did. At every instant the folder is
/// absent, marked as partial, or whole: after a crash the next installation begins anew, and a
/// download goes on where it was. `note` hears what takes time.
Result<bool> InstallPlugin(const PluginInstallation& plugin,
                           const std::map<std::string, std::string>& environment,
                           const std::function<void(const std::string&)>& note);

}  // namespace davit
