#pragma once
// The file of `davit import -f` (C21). One thread at a time.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/codec/property_json.h"

namespace davit {

/// The plugin behind a package that is made by parameters.
struct ImportParameterization {
  std::string plugin_name;
  std::string plugin_version;
  std::string value;  ///< raw bytes
};

/// One entry as it is written.
struct ImportEntry {
  std::string type;
  std::string name;
  std::string logical_name;  ///< of the resource itself, where `name` is that of the variable
  std::string id;
  std::string parent;    ///< a name of the file
  std::string provider;  ///< likewise
  std::string version;
  std::string download_url;
  std::optional<ImportParameterization> parameterization;
  std::vector<std::string> properties;
  bool is_component = false;
  bool is_remote = false;
  PropertyMap inputs;
  std::optional<PropertyMap> outputs;
};

struct ImportFile {
  std::map<std::string, std::string> names;  ///< `nameTable`: URN by name, not checked
  std::vector<ImportEntry> entries;
};

/// Another member than those of C21 is an error, as is one that davit does not support.
Result<ImportFile> ReadImportFile(std::string_view text, const PropertyReading& reading);

}  // namespace davit
