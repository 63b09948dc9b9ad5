#pragma once
// Plugins written in YAML: components that are built in this process (Y190-Y197). Engine thread.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/yaml/yaml_source.h"

namespace davit {

struct ComponentPlugin {
  std::string folder;              ///< absolute
  std::vector<std::string> files;  ///< `*.yaml` of the folder, PulumiPlugin.yaml among them
  FileReader read;
  /// The Monitor behind an address that a Construct was given; null when there is none.
  std::function<Monitor*(const std::string& address)> monitor;
};

/// Reads the plugin; what is wrong with it is one error that lists everything.
Result<std::shared_ptr<Provider>> LoadComponentPlugin(ComponentPlugin plugin);

}  // namespace davit
