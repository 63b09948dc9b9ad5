#pragma once
// A YAML program, checked and ordered (sections 3, 4, 8, 9, 11 of yaml.md). Pure, any thread.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/yaml/expression.h"
#include "engine/yaml/package_files.h"

namespace davit {

struct YamlConfig {
  std::string symbol;  ///< as the program names it
  std::string key;     ///< looked up in the stack configuration (Y27)
  std::string type;    ///< canonical: string number integer boolean object list, or empty
  bool is_secret = false;
  std::optional<SourceRange> is_plain;  ///< where `secret: false` stands (Y36)
  bool is_of_old_block = false;         ///< of `configuration` (Y21)
  YamlExprPtr default_value;            ///< null when there is none
  SourceRange where;
};

/// The resource options there are (Y100).
const std::vector<std::string>& YamlOptionNames();

struct YamlOption {
  std::string name;  ///< canonical
  YamlExprPtr value;
  SourceRange where;
};

struct YamlProperty {
  std::string name;
  YamlExprPtr value;
  SourceRange where;  ///< of the key
};

struct YamlResource {
  std::string key;
  std::string name;  ///< logical name
  std::string type;
  SourceRange where;  ///< of the key
  SourceRange type_where;
  bool has_properties = false;
  std::vector<YamlProperty> properties;
  YamlExprPtr
      properties_expr;  ///< instead of `properties`: one expression that gives an object (Y94)
  std::vector<YamlOption> options;
  YamlExprPtr get_id;  ///< `get.id`: the resource is read (Y96)
  std::vector<YamlProperty> get_state;
  bool is_default_provider = false;

  const YamlOption* Option(std::string_view name) const;
};

struct YamlVariable {
  std::string key;
  YamlExprPtr value;
  SourceRange where;
};

/// What a name stands for.
enum class YamlNodeKind { kConfig, kResource, kVariable, kRequirement };
struct YamlNodeRef {
  YamlNodeKind kind;
  std::size_t index;
  friend auto operator<=>(const YamlNodeRef&, const YamlNodeRef&) = default;
};

struct YamlProgram;

/// A component that is made of resources (Y191, Y196). Its inputs are the configuration of its
/// program.
struct YamlComponent {
  std::string name;
  SourceRange where;  ///< of the key
  std::shared_ptr<YamlProgram> program;
};

struct YamlProgram {
  std::string file;  ///< as messages name it
  std::string project;
  bool checks_types = true;  ///< Y150
  std::vector<YamlConfig> config;
  std::vector<YamlResource> resources;
  std::vector<YamlVariable> variables;
  std::vector<YamlVariable> outputs;
  std::vector<YamlComponent> components;
  /// `pulumi.requiredVersion` (Y22); null when there is none.
  YamlExprPtr required_version;
  std::map<std::string, YamlNodeRef, std::less<>> names;
  /// Evaluation order: each node after what it references (Y130).
  std::vector<YamlNodeRef> order;
  std::map<YamlNodeRef, std::vector<YamlNodeRef>> needs;
  /// Accesses whose root the program does not declare: arriving configuration keys, or mistakes
  /// (Y33, Y70).
  std::vector<YamlAccess> undeclared;
  /// What package declaration files say (Y8).
  DeclaredPackages declared;
  /// Package -> index of the provider resource that serves it by default (Y98).
  std::map<std::string, std::size_t> default_providers;

  /// The node of an access root, with the project prefix removed if need be (Y70); absent for
  /// unknown names and `pulumi`.
  std::optional<YamlNodeRef> Resolve(std::string_view root) const;
};

/// The component that a type token of the program's own namespace means; null when there is none.
const YamlComponent* ComponentOf(const YamlProgram& program, const std::string& type);

/// The package schema of components, as JSON text (Y191).
std::string ComponentSchema(const std::string& package,
                            const std::string& version,
                            const std::vector<YamlComponent>& components);

/// Components that contain themselves are errors (Y196).
void CheckNesting(const YamlProgram& program, std::vector<Error>* errors);

/// Fills in needs, order, undeclared names and default providers. Cycles (Y131) and second default
/// providers are errors.
void OrderProgram(YamlProgram* program, std::vector<Error>* errors);

/// Reads and orders a program of one file or, with `pulumi.include` (C30), of several: their
/// sections merge. Everything wrong is in `errors`.
YamlProgram LoadProgram(const std::vector<std::shared_ptr<const YamlDocument>>& documents,
                        const std::string& project,
                        std::vector<Error>* errors,
                        std::vector<Error>* warnings);

/// The same for the files of a plugin, which hold components and may have a namespace (Y190).
YamlProgram LoadPlugin(const std::vector<std::shared_ptr<const YamlDocument>>& documents,
                       const std::string& name,
                       std::vector<Error>* errors,
                       std::vector<Error>* warnings);

}  // namespace davit
