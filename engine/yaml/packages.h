#pragma once
// The packages that a program uses, with their schemas (Y80-Y91). Engine thread.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/task.h"
#include "engine/yaml/package_schema.h"
#include "engine/yaml/program.h"

namespace davit {

struct YamlPackage {
  PackageDescriptor descriptor;
  bool is_declared = false;               ///< by a file (Y8)
  std::unique_ptr<PackageSchema> schema;  ///< null: the plugin has none (Y87)
  std::string ref;                        ///< of a declared package that was registered (Y90)
};

/// A type or function token as the program uses it: options may ask for another version (Y85).
struct YamlTokenUse {
  std::string token;
  std::string version;
  std::string url;
  SourceRange where;
};

YamlTokenUse TokenUse(const YamlResource& resource);
/// Of a call of a function of a package; the token is empty for other calls.
YamlTokenUse TokenUse(const YamlExpr& call);
/// The argument of `fn::invoke` or `fn::call` named `name`, whatever its case; null when there is
/// none.
YamlExprPtr ArgumentOf(const YamlExpr& call, std::string_view name);

/// Calls `visit` for every expression of the program, nested ones excepted.
void VisitExpressions(const YamlProgram& program,
                      const std::function<void(const YamlExprPtr&)>& visit);

class YamlPackages {
 public:
  struct Found {
    const SchemaMember* member = nullptr;
    const YamlPackage* package = nullptr;
  };
  using ReportSink = std::function<void(Error)>;

  /// Loads what `program` uses. Failures go to `report`, at the place of the first use.
  Task<void> Load(const YamlProgram& program, Monitor& monitor, ReportSink report);
  /// Registers the declared packages (Y90).
  Task<Result<void>> Register(Monitor& monitor);
  /// Whether a schema is there to tell what the token means; without one, nothing is checked.
  bool HasSchema(const YamlTokenUse& use) const;
  /// The first package that knows the token (Y84); none: both null.
  Found Resource(const YamlTokenUse& use) const;
  Found Function(const YamlTokenUse& use) const;
  /// The function behind a method of a resource.
  Found Method(const SchemaMember& resource, const std::string& token) const;
  /// A resource type that a schema refers to; null when it is not known.
  const SchemaMember* Resource(const std::string& token) const;
  std::vector<std::string> ResourceTokens(const YamlTokenUse& use) const;
  std::vector<std::string> FunctionTokens(const YamlTokenUse& use) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  ///< namespace, version, URL
  using Lookup = const SchemaMember* (PackageSchema::*)(const std::string&);
  YamlTokenUse UsualUse(const std::string& token) const;
  Key KeyOf(const YamlTokenUse& use) const;
  Found Find(const YamlTokenUse& use, Lookup lookup) const;
  std::vector<std::string> Tokens(const YamlTokenUse& use,
                                  std::vector<std::string> (PackageSchema::*list)() const) const;
  const std::vector<YamlPackage>& Candidates(const YamlTokenUse& use) const;

  std::map<Key, std::vector<YamlPackage>> packages_;
  std::map<std::string, PackageDescriptor> first_;  ///< of each namespace, as first used
};

}  // namespace davit
