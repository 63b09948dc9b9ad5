#pragma once
// The part of a package schema that programs need (Y81, Y87, Y88), indexed lazily. Pure, any
// thread.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct SchemaMember {
  std::string token;  ///< as the schema spells it
  bool is_component = false;
  std::set<std::string, std::less<>> inputs;
  std::set<std::string, std::less<>> outputs;
  std::vector<std::string> required_inputs;
  std::vector<std::string> secret_inputs;
  std::vector<std::string> secret_outputs;
  std::vector<std::string> replace_on_changes;
};

class PackageSchema {
 public:
  virtual ~PackageSchema() = default;
  /// Resolves a resource type as written, with Y81's steps; null when there is none.
  virtual const SchemaMember* Resource(const std::string& token) = 0;
  virtual const SchemaMember* Function(const std::string& token) = 0;
  /// All resource types, for suggestions.
  virtual std::vector<std::string> ResourceTokens() const = 0;
  virtual std::vector<std::string> FunctionTokens() const = 0;
};

/// Reads a schema's JSON text. A schema without name or resources is an error.
Result<std::unique_ptr<PackageSchema>> ParsePackageSchema(const std::string& package,
                                                          const std::string& json);

}  // namespace davit
