#pragma once
// A JSON Schema of YAML programs, for editors (Y161). Pure, any thread.

#include <memory>
#include <string>
#include <vector>

#include "engine/yaml/package_schema.h"

namespace davit {

/// A package as the program names it.
struct EditorPackage {
  std::string name;
  std::unique_ptr<PackageSchema> schema;
};

/// Describes programs whose resources are of these packages: all types, the properties of each, and
/// the options. Where a value is wanted an interpolation, a function or null may stand, too. It
/// refuses nothing that `davit check` accepts without a warning.
std::string EditorSchema(const std::vector<EditorPackage>& packages);

}  // namespace davit
