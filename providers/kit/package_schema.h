#pragma once
// What a package offers, declared in C++: the source of its schema (Y87, Y88), of the default Check
// and of the default Diff. Plain data and pure functions, any thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/provider.h"
#include "engine/value/property_value.h"

namespace davit::kit {

/// The type of a property.
class SchemaType {
 public:
  enum class Kind { kAny, kString, kNumber, kInteger, kBoolean, kList, kMap, kOneOf };

  static SchemaType Any() { return SchemaType(Kind::kAny, {}); }
  static SchemaType String() { return SchemaType(Kind::kString, {}); }
  static SchemaType Number() { return SchemaType(Kind::kNumber, {}); }
  static SchemaType Integer() { return SchemaType(Kind::kInteger, {}); }
  static SchemaType Boolean() { return SchemaType(Kind::kBoolean, {}); }
  static SchemaType ListOf(SchemaType item) { return SchemaType(Kind::kList, {std::move(item)}); }
  static SchemaType MapOf(SchemaType item) { return SchemaType(Kind::kMap, {std::move(item)}); }
  /// The first that fits counts.
  static SchemaType OneOf(std::vector<SchemaType> types) {
    return SchemaType(Kind::kOneOf, std::move(types));
  }

  Kind kind() const { return kind_; }
  /// The item type of a list or map; the alternatives of kOneOf.
  const std::vector<SchemaType>& arguments() const { return arguments_; }
  /// For people: `string`, `list of string`, `string or list of string`.
  std::string Text() const;

 private:
  SchemaType(Kind kind, std::vector<SchemaType> arguments)
      : kind_(kind), arguments_(std::move(arguments)) {}
  Kind kind_;
  std::vector<SchemaType> arguments_;
};

struct PropertySchema {
  std::string name;
  SchemaType type = SchemaType::Any();
  std::string description;
  bool required = false;
  bool secret = false;
  bool replace_on_changes = false;  ///< of an input
  PropertyValue default_value;      ///< of an input; null: none. Check fills it in
};

struct ResourceSchema {
  std::string token;  ///< `package:module:Name`
  std::string description;
  std::vector<PropertySchema> inputs;
  /// Outputs beyond the inputs, which are outputs too unless one here has the same name.
  std::vector<PropertySchema> outputs;
  bool accepts_any_input = false;  ///< Check lets undeclared inputs pass
};

struct FunctionSchema {
  std::string token;
  std::string description;
  std::vector<PropertySchema> inputs;
  std::vector<PropertySchema> outputs;
};

struct PackageSchema {
  std::string name;
  std::string version;
  std::string description;
  std::vector<PropertySchema> config;
  std::vector<ResourceSchema> resources;
  std::vector<FunctionSchema> functions;
};

/// The schema as the JSON text that GetSchema answers.
std::string SchemaJson(const PackageSchema& package);

/// Checks inputs against their declarations: fills in defaults, drops nulls, turns numbers and
/// booleans into text where text is declared, and finds what is missing, undeclared or of another
/// type. Unknowns pass. `owner` names the resource type in messages.
CheckResponse CheckDeclared(const std::vector<PropertySchema>& declared,
                            std::string_view owner,
                            bool accepts_any,
                            const PropertyMap& inputs);

/// Compares inputs; a change of a `replace_on_changes` property asks for replacement.
DiffResponse DiffDeclared(const std::vector<PropertySchema>& declared,
                          const PropertyMap& old_inputs,
                          const PropertyMap& new_inputs);
/// The answer that follows from a detailed diff (P79).
DiffResponse DiffFromDetail(std::map<std::string, PropertyDiff> detail);

}  // namespace davit::kit
