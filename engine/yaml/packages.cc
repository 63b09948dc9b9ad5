#include "engine/yaml/packages.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/nearest.h"

namespace davit {
namespace {

std::string TextOf(const YamlExprPtr& expr) {
  const std::string* text = expr ? expr->literal.as_string() : nullptr;
  return text == nullptr ? std::string() : *text;
}

YamlExprPtr EntryOf(const YamlExpr& map, std::string_view name) {
  for (const auto& [key, value] : map.entries) {
    const std::string* text = key->literal.as_string();
    if (text != nullptr && SameIgnoringCase(*text, name)) {
      return value;
    }
  }
  return nullptr;
}

std::vector<YamlTokenUse> AllTokens(const YamlProgram& program) {
  std::vector<YamlTokenUse> uses;
  for (const YamlComponent& component : program.components) {
    const std::vector<YamlTokenUse> inner = AllTokens(*component.program);
    uses.insert(uses.end(), inner.begin(), inner.end());
  }
  for (const YamlResource& resource : program.resources) {
    uses.push_back(TokenUse(resource));
  }
  VisitExpressions(program, [&](const YamlExprPtr& expr) {
    VisitCalls(*expr, [&](const YamlExpr& call) {
      YamlTokenUse use = TokenUse(call);
      if (!use.token.empty()) {
        uses.push_back(std::move(use));
      }
    });
  });
  std::erase_if(uses, [](const YamlTokenUse& use) { return PackageOf(use.token).empty(); });
  return uses;
}

// What each namespace is served by when no option asks for something else (Y84, Y89).
std::map<std::string, PackageDescriptor> FirstUses(const std::vector<YamlTokenUse>& uses) {
  std::map<std::string, PackageDescriptor> packages;
  for (const YamlTokenUse& use : uses) {
    const std::string name(PackageOf(use.token));
    const auto [at, is_first] = packages.try_emplace(name);
    if (is_first) {  // recorded (y-default-version): the first one in the file decides
      at->second.name = name;
      at->second.version = use.version;
      at->second.download_url = use.url;
    }
  }
  return packages;
}

}  // namespace

YamlTokenUse TokenUse(const YamlResource& resource) {
  YamlTokenUse use;
  use.token = resource.type;
  use.where = resource.type_where;
  const YamlOption* version = resource.Option("version");
  const YamlOption* url = resource.Option("pluginDownloadURL");
  use.version = version == nullptr ? std::string() : TextOf(version->value);
  use.url = url == nullptr ? std::string() : TextOf(url->value);
  return use;
}

YamlTokenUse TokenUse(const YamlExpr& call) {
  YamlTokenUse use;
  if (call.function.find(':') != std::string::npos) {
    use.token = call.function;
    use.where = call.where;
  } else if (call.function == "invoke") {
    const YamlExprPtr function = ArgumentOf(call, "function");
    const YamlExprPtr options = ArgumentOf(call, "options");
    use.token = TextOf(function);
    use.where = function ? function->where : call.where;
    if (options) {
      use.version = TextOf(EntryOf(*options, "version"));
      use.url = TextOf(EntryOf(*options, "pluginDownloadURL"));
    }
  }
  return use;
}

YamlExprPtr ArgumentOf(const YamlExpr& call, std::string_view name) {
  return EntryOf(*call.argument, name);
}

void VisitExpressions(const YamlProgram& program,
                      const std::function<void(const YamlExprPtr&)>& visit) {
  const auto one = [&](const YamlExprPtr& expr) {
    if (expr) {
      visit(expr);
    }
  };
  for (const YamlConfig& config : program.config) {
    one(config.default_value);
  }
  one(program.required_version);
  for (const YamlResource& resource : program.resources) {
    for (const YamlProperty& property : resource.properties) {
      one(property.value);
    }
    one(resource.properties_expr);
    one(resource.get_id);
    for (const YamlProperty& property : resource.get_state) {
      one(property.value);
    }
    for (const YamlOption& option : resource.options) {
      one(option.value);
    }
  }
  for (const YamlVariable& variable : program.variables) {
    one(variable.value);
  }
  for (const YamlVariable& output : program.outputs) {
    one(output.value);
  }
}

std::vector<PackageDescriptor> PackagesOf(const YamlProgram& program) {
  std::vector<PackageDescriptor> list;
  for (auto& [name, package] : FirstUses(AllTokens(program))) {
    if (name == program.project && !program.components.empty()) {
      continue;  // its own
    }
    const auto declared = program.declared.find(name);
    if (declared == program.declared.end()) {
      list.push_back(std::move(package));
    } else {
      list.insert(list.end(), declared->second.begin(), declared->second.end());
    }
  }
  return list;
}

Task<void> YamlPackages::Load(const YamlProgram& program, Monitor& monitor, ReportSink report) {
  const std::vector<YamlTokenUse> uses = AllTokens(program);
  first_ = FirstUses(uses);
  for (auto& [name, descriptor] : first_) {
    if (program.declared.contains(name)) {  // the file says what serves the namespace
      descriptor.version.clear();
      descriptor.download_url.clear();
    }
  }
  for (const YamlTokenUse& use : uses) {
    const Key key = KeyOf(use);
    if (packages_.contains(key)) {
      continue;
    }
    std::vector<YamlPackage>& candidates = packages_[key];
    const std::string& name = std::get<0>(key);
    const auto declared = program.declared.find(name);
    const bool is_declared = declared != program.declared.end();
    std::vector<PackageDescriptor> descriptors{first_.at(name)};
    if (is_declared) {
      descriptors = declared->second;
      const bool has_base = std::ranges::any_of(
          descriptors, [](const PackageDescriptor& package) { return !package.extension; });
      if (!has_base) {  // Y84: the plain plugin has the types that no extension has
        PackageDescriptor base = descriptors.front();
        base.extension.reset();
        descriptors.push_back(std::move(base));
      }
    }
    for (PackageDescriptor& descriptor : descriptors) {
      descriptor.version = std::get<1>(key).empty() ? descriptor.version : std::get<1>(key);
      descriptor.download_url =
          std::get<2>(key).empty() ? descriptor.download_url : std::get<2>(key);
      YamlPackage package;
      package.descriptor = descriptor;
      package.is_declared = is_declared && std::get<1>(key).empty() && std::get<2>(key).empty();
      const bool is_own = name == program.project && !program.components.empty();
      if (descriptor.extension) {  // a process that is parameterized with it tells its schema
        descriptor.parameterization = std::exchange(descriptor.extension, std::nullopt);
      }
      Result<std::string> json = std::string();
      if (is_own) {
        json = ComponentSchema(name, "", program.components);
      } else {
        json = co_await monitor.GetSchema(std::move(descriptor));
      }
      if (!json) {
        if (json.error().kind != ErrorKind::kUnimplemented) {  // Y87
          Error error = std::move(json).error();
          error.where = error.where ? error.where : use.where;
          report(std::move(error));
        }
      } else {
        Result<std::unique_ptr<PackageSchema>> schema = ParsePackageSchema(name, *std::move(json));
        if (schema) {
          package.schema = *std::move(schema);
        } else {
          report(std::move(schema).error());
        }
      }
      candidates.push_back(std::move(package));
    }
  }
}

Task<Result<void>> YamlPackages::Register(Monitor& monitor) {
  for (auto& [key, candidates] : packages_) {
    for (YamlPackage& package : candidates) {
      if (package.is_declared) {
        PackageDescriptor descriptor = package.descriptor;
        DAVIT_CO_TRY(package.ref, co_await monitor.RegisterPackage(std::move(descriptor)));
      }
    }
  }
  co_return Result<void>();
}

// What the namespace is served by anyway needs no entry of its own.
YamlPackages::Key YamlPackages::KeyOf(const YamlTokenUse& use) const {
  std::string name(PackageOf(use.token));
  const auto first = first_.find(name);
  const bool is_usual = first != first_.end() && first->second.version == use.version &&
                        first->second.download_url == use.url;
  return is_usual ? Key(std::move(name), "", "") : Key(std::move(name), use.version, use.url);
}

const std::vector<YamlPackage>& YamlPackages::Candidates(const YamlTokenUse& use) const {
  static const std::vector<YamlPackage> kNone;
  const auto at = packages_.find(KeyOf(use));
  return at == packages_.end() ? kNone : at->second;
}

bool YamlPackages::HasSchema(const YamlTokenUse& use) const {
  const std::vector<YamlPackage>& candidates = Candidates(use);
  return !candidates.empty() &&
         std::ranges::all_of(candidates, [](const YamlPackage& p) { return p.schema != nullptr; });
}

YamlPackages::Found YamlPackages::Find(const YamlTokenUse& use, Lookup lookup) const {
  Found found;
  for (const YamlPackage& package : Candidates(use)) {
    const SchemaMember* member =
        package.schema ? (package.schema.get()->*lookup)(use.token) : nullptr;
    if (found.package == nullptr || member != nullptr) {
      found.package = &package;
      found.member = member;
    }
    if (member != nullptr) {
      break;
    }
  }
  return found;
}

YamlPackages::Found YamlPackages::Resource(const YamlTokenUse& use) const {
  return Find(use, &PackageSchema::Resource);
}

YamlPackages::Found YamlPackages::Function(const YamlTokenUse& use) const {
  return Find(use, &PackageSchema::Function);
}

YamlPackages::Found YamlPackages::Method(const SchemaMember& resource,
                                         const std::string& token) const {
  Found found;
  for (const YamlPackage& package : Candidates(UsualUse(resource.token))) {
    found.package = &package;
    found.member = package.schema ? package.schema->Function(token) : nullptr;
    if (found.member != nullptr) {
      break;
    }
  }
  return found;
}

const SchemaMember* YamlPackages::Resource(const std::string& token) const {
  return Resource(UsualUse(token)).member;
}

YamlTokenUse YamlPackages::UsualUse(const std::string& token) const {
  YamlTokenUse use;
  use.token = token;
  const auto first = first_.find(std::string(PackageOf(token)));
  if (first != first_.end()) {
    use.version = first->second.version;
    use.url = first->second.download_url;
  }
  return use;
}

std::vector<std::string> YamlPackages::Tokens(
    const YamlTokenUse& use, std::vector<std::string> (PackageSchema::*list)() const) const {
  std::vector<std::string> tokens;
  for (const YamlPackage& package : Candidates(use)) {
    if (package.schema) {
      const std::vector<std::string> more = (package.schema.get()->*list)();
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
  }
  return tokens;
}

std::vector<std::string> YamlPackages::ResourceTokens(const YamlTokenUse& use) const {
  return Tokens(use, &PackageSchema::ResourceTokens);
}

std::vector<std::string> YamlPackages::FunctionTokens(const YamlTokenUse& use) const {
  return Tokens(use, &PackageSchema::FunctionTokens);
}

}  // namespace davit
