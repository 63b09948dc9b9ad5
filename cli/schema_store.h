#pragma once
// Schemas of plugins on disk, so that a plugin is asked once (C61) and a check of a program starts
// no process. Blocking file access. A file that was not used for a month goes when one is written.

#include <map>

#include "engine/run/provider_pool.h"
#include "host/plugin/discovery.h"

namespace davit {

/// Keeps them in `<PULUMI_HOME>/schemas`, named for the package and a digest of what tells one
/// build of a plugin from another: path, inode, size and times of its executable, and the
/// parameters. The bytes themselves are not read: that would cost more than the schema. Of a plugin
/// that is a script, or that a language host runs, nothing is kept: its text is spread over other
/// files.
class DiskSchemas final : public SchemaStore {
 public:
  explicit DiskSchemas(DiscoveryOptions discovery) : discovery_(std::move(discovery)) {}

  std::optional<std::string> Find(const PluginSpec& spec) override;
  void Keep(const PluginSpec& spec, const std::string& schema) override;
  /// Whether Find would find it.
  bool Has(const PluginSpec& spec) const;

 private:
  /// Empty when the schema of this plugin is not kept.
  std::string FileOf(const PluginSpec& spec) const;

  DiscoveryOptions discovery_;
};

}  // namespace davit
