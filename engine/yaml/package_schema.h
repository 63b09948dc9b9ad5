#pragma once
// Package schemas: what resources and functions take and give (Y81, Y87, Y88, Y150-Y153). The text
// is indexed once; a member is decoded when it is asked for (C61). Pure, any thread.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/value/property_value.h"

namespace davit {

struct SchemaType;

struct SchemaProperty {
  const SchemaType* type = nullptr;  ///< never null
  std::optional<PropertyValue> constant;
  std::optional<PropertyValue> default_value;
  bool is_secret = false;
  bool replaces = false;  ///< a change replaces the resource
  std::string deprecation;
};

struct SchemaObject {
  std::map<std::string, SchemaProperty, std::less<>> properties;
  std::vector<std::string> required;
};

/// A type as the schema states it. Types live as long as the schema and may contain themselves.
struct SchemaType {
  enum class Kind {
    kAny,
    kString,
    kBoolean,
    kInteger,
    kNumber,
    kAsset,
    kArchive,
    kList,
    kMap,
    kUnion,
    kObject,
    kEnum,
    kResource
  };
  Kind kind = Kind::kAny;
  std::string token;                       ///< of an object, enum or resource
  const SchemaType* element = nullptr;     ///< of a list or map; of an enum the type of its values
  std::vector<const SchemaType*> members;  ///< of a union
  std::vector<PropertyValue> values;       ///< of an enum
  SchemaObject object;

  /// As messages name it (Y160): `string`, `List<T>`, `Union<A, B>`, a token.
  std::string Text() const;
};

/// A resource type or a function.
struct SchemaMember {
  std::string token;  ///< as the schema spells it
  bool is_component = false;
  SchemaObject inputs;
  SchemaType outputs;                        ///< an object; of a function that returns a bare value its type (Y114)
  std::vector<std::string> aliases;          ///< former types
  std::vector<std::string> replace_on_changes;  ///< property paths, nested ones too
  std::map<std::string, std::string, std::less<>> methods;  ///< name -> function token
  std::string deprecation;

  bool is_scalar() const { return outputs.kind != SchemaType::Kind::kObject; }
};

class PackageSchema {
 public:
  virtual ~PackageSchema() = default;
  /// Resolves a resource type as written, with Y81's steps; null when there is none.
  virtual const SchemaMember* Resource(const std::string& token) = 0;
  virtual const SchemaMember* Function(const std::string& token) = 0;
  /// As the schema states it; may be empty.
  virtual const std::string& version() const = 0;
  /// All resource types, for suggestions.
  virtual std::vector<std::string> ResourceTokens() const = 0;
  virtual std::vector<std::string> FunctionTokens() const = 0;
};

/// Reads a schema's JSON text. What is no JSON object is an error; a part that cannot be understood
/// is as if it allowed anything (Y157).
Result<std::unique_ptr<PackageSchema>> ParsePackageSchema(const std::string& package,
                                                          std::string json);

}  // namespace davit
