// Resources and calls of a program against the schemas of their packages (Y81-Y87, Y98, Y112, Y117).
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/semver.h"
#include "engine/yaml/nearest.h"
#include "engine/yaml/type_check.h"

namespace davit {
namespace {

// A short token as schemas spell it, for comparison with theirs.
std::string InFull(const std::string& token) {
  const std::size_t colon = token.find(':');
  return std::ranges::count(token, ':') == 1 ? token.substr(0, colon) + ":index" + token.substr(colon)
                                             : token;
}

bool HasProvider(const YamlExpr& call) {
  const YamlExprPtr options = call.function == "invoke" ? ArgumentOf(call, "options") : nullptr;
  return options && std::ranges::any_of(options->entries, [](const auto& entry) {
           const std::string* name = entry.first->literal.as_string();
           return name != nullptr && *name == "provider";
         });
}

}  // namespace

// Y86: what exists only inside the SDKs of other languages.
bool TypeChecker::IsRefused(const YamlResource& resource) {
  static const std::map<std::string, std::string, std::less<>> kInstead = {
      {"kubernetes:apiextensions.k8s.io:CustomResource", "write the type of the resource itself"},
      {"kubernetes:kustomize:Directory", "use kubernetes:kustomize/v2:Directory"},
      {"kubernetes:yaml:ConfigFile", "use kubernetes:yaml/v2:ConfigFile"},
      {"kubernetes:yaml:ConfigGroup", "use kubernetes:yaml/v2:ConfigGroup"},
      {"kubernetes:helm.sh/v2:Chart", "use kubernetes:helm.sh/v4:Chart"},
      {"kubernetes:helm.sh/v3:Chart", "use kubernetes:helm.sh/v4:Chart"},
      {"docker:Image", "use version 4 of docker or later"},
      {"docker:image:Image", "use version 4 of docker or later"}};
  const auto at = kInstead.find(resource.type);
  if (at == kInstead.end()) {
    return false;
  }
  const YamlPackages::Found found = packages_.Resource(TokenUse(resource));
  if (resource.type.starts_with("docker:")) {
    const bool has_schema = found.package != nullptr && found.package->schema != nullptr;
    const std::optional<Semver> version =
        has_schema ? Semver::ParseTolerant(found.package->schema->version()) : std::nullopt;
    if (!version || version->major >= 4) {
      return false;
    }
  }
  Problem(resource.type_where,
          fmt::format("'{}' can be made by programs in other languages only", resource.type),
          at->second);
  return true;
}

// Y98: the default provider of a package has its version and URL.
void TypeChecker::CheckVersion(const YamlTokenUse& use, bool is_function) {
  const auto at = program_.default_providers.find(std::string(PackageOf(use.token)));
  if (at == program_.default_providers.end()) {
    return;
  }
  const YamlResource& provider = program_.resources[at->second];
  const YamlTokenUse own = TokenUse(provider);
  const auto compare = [&](const char* option, const std::string& wanted, const std::string& has) {
    if (!wanted.empty() && (is_function || wanted != has)) {
      Problem(use.where,
              fmt::format("'{}' asks for the {} '{}', but its default provider '{}' has {}",
                          use.token,
                          option,
                          wanted,
                          provider.key,
                          has.empty() ? "none" : fmt::format("'{}'", has)),
              fmt::format("give the provider the option '{}', or name another provider", option));
    }
  };
  compare("version", use.version, own.version);
  compare("pluginDownloadURL", use.url, own.url);
}

void TypeChecker::CheckResource(const YamlResource& resource) {
  const YamlTokenUse use = TokenUse(resource);
  const std::string package(PackageOf(resource.type));
  if (IsRefused(resource)) {
    return;
  }
  if (resource.Option("provider") == nullptr && !resource.type.starts_with(kProviderTypePrefix)) {
    CheckVersion(use, false);
  }
  if (!packages_.HasSchema(use)) {
    if (std::ranges::count(resource.type, ':') != 2) {  // Y87
      Problem(resource.type_where,
              fmt::format("the plugin '{}' has no schema, so '{}' cannot be looked up",
                          package,
                          resource.type),
              "write the type in full, as package:module:Name");
    }
    return;
  }
  const SchemaMember* member = packages_.Resource(use).member;
  if (member == nullptr) {
    Problem(resource.type_where,
            fmt::format("the package '{}' has no resource type '{}'", package, resource.type),
            DidYouMean(InFull(resource.type), packages_.ResourceTokens(use)));
    return;
  }
  if (!member->deprecation.empty()) {
    Warn(resource.type_where,
         fmt::format("'{}' is deprecated: {}", member->token, member->deprecation));
  }
  std::vector<Field> fields;
  for (const YamlProperty& property : resource.properties) {
    const bool is_general = resource.type.starts_with(kProviderTypePrefix) &&
                            (property.name == "version" || property.name == "pluginDownloadURL");
    if (!is_general) {
      fields.push_back({property.name, property.value, property.where});
    }
  }
  if (resource.get_id) {
    fields.clear();
    for (const YamlProperty& property : resource.get_state) {
      fields.push_back({property.name, property.value, property.where});
    }
    CheckObject(fields, member->outputs.object, member->token, resource.where, true);
    const SchemaType text{.kind = Kind::kString};
    Check(*resource.get_id, text, "'get.id'");
    return;
  }
  if (resource.properties_expr) {
    const YamlShape shape = ShapeOf(*resource.properties_expr);
    if (shape.expr == nullptr || shape.expr->kind != YamlExpr::Kind::kMap) {
      return;  // what it gives shows when the program runs
    }
    fields = FieldsOf(*shape.expr);
  }
  CheckObject(fields, member->inputs, member->token, resource.where, false);
}

void TypeChecker::CheckCall(const YamlExpr& call) {
  if ((call.function == "invoke" || call.function == "call") && !CheckForm(call)) {
    return;
  }
  if (call.function == "call") {
    CheckMethod(call);
    return;
  }
  const YamlTokenUse use = TokenUse(call);
  if (!use.token.empty() && !HasProvider(call)) {
    CheckVersion(use, true);
  }
  if (use.token.empty() || !packages_.HasSchema(use)) {
    return;
  }
  const SchemaMember* member = packages_.Function(use).member;
  if (member == nullptr) {
    Problem(use.where,
            fmt::format("the package '{}' has no function '{}'", PackageOf(use.token), use.token),
            DidYouMean(InFull(use.token), packages_.FunctionTokens(use)));
    return;
  }
  if (!member->deprecation.empty()) {
    Warn(use.where, fmt::format("'{}' is deprecated: {}", member->token, member->deprecation));
  }
  const YamlExprPtr arguments =
      call.function == "invoke" ? ArgumentOf(call, "arguments") : call.argument;
  if (!arguments || arguments->is_null()) {
    CheckObject({}, member->inputs, member->token, use.where, false);
  } else if (arguments->kind == YamlExpr::Kind::kMap) {
    CheckObject(FieldsOf(*arguments), member->inputs, member->token, use.where, false);
  }
  CheckReturn(call, *member);
}

void TypeChecker::CheckReturn(const YamlExpr& call, const SchemaMember& function) {
  const SchemaMember* member = &function;
  const YamlExprPtr returned = call.function == "invoke" || call.function == "call"
                                   ? ArgumentOf(call, "return")
                                   : nullptr;
  const std::string* name = returned ? returned->literal.as_string() : nullptr;
  if (name == nullptr) {
    return;
  }
  if (member->is_scalar()) {  // Y114
    Problem(returned->where,
            fmt::format("'{}' returns a {} and no object", member->token, member->outputs.Text()),
            "remove 'return'");
  } else if (!member->outputs.object.properties.empty() &&
             !member->outputs.object.properties.contains(*name)) {
    std::vector<std::string> names;
    for (const auto& [key, property] : member->outputs.object.properties) {
      names.push_back(key);
    }
    Problem(returned->where,
            fmt::format("the result of '{}' has no member '{}'", member->token, *name),
            ExistingNames(*name, std::move(names)));
  }
}

bool TypeChecker::CheckForm(const YamlExpr& call) {
  const bool is_invoke = call.function == "invoke";
  const std::vector<std::string> keys =
      is_invoke ? std::vector<std::string>{"function", "arguments", "options", "return"}
                : std::vector<std::string>{"resource", "method", "arguments", "return"};
  const std::string title = "'fn::" + call.function + "'";
  if (call.argument->kind != YamlExpr::Kind::kMap) {
    Problem(call.argument->where,
            fmt::format("{} needs a map with '{}' and '{}'", title, keys[0], keys[1]));
    return false;
  }
  bool is_good = true;
  for (const auto& [key, value] : call.argument->entries) {
    const std::string* name = key->literal.as_string();
    const bool is_known = name != nullptr && std::ranges::any_of(keys, [&](const auto& known) {
                            return SameIgnoringCase(known, *name);
                          });
    if (!is_known) {
      Problem(key->where,
              fmt::format("'{}' is not known in {}", name == nullptr ? "this key" : *name, title),
              name == nullptr ? std::string() : ExistingNames(*name, keys));
      is_good = false;
    }
  }
  for (const char* literal : {is_invoke ? "function" : "method", "return"}) {
    const YamlExprPtr value = ArgumentOf(call, literal);
    const bool is_absent = !value && std::string_view(literal) == "return";
    if (is_absent || (value && value->literal.is_string())) {
      continue;
    }
    Problem(value ? value->where : call.where,
            value ? fmt::format("'{}' of {} must be a literal string", literal, title)
                  : fmt::format("{} has no '{}'", title, literal));
    is_good = false;
  }
  const YamlExprPtr arguments = ArgumentOf(call, "arguments");
  const bool is_map = !arguments || arguments->is_null() ||
                      arguments->kind == YamlExpr::Kind::kMap ||
                      arguments->kind == YamlExpr::Kind::kAccess ||
                      arguments->kind == YamlExpr::Kind::kCall;
  if (!is_map) {
    Problem(arguments->where, fmt::format("'arguments' of {} must be a map", title));
  }
  if (!is_invoke && !ArgumentOf(call, "resource")) {
    Problem(call.where, fmt::format("{} has no 'resource'", title));
    is_good = false;
  }
  return is_good && is_map;
}

// Y111: the method of a resource is a function that takes the resource as `__self__`.
void TypeChecker::CheckMethod(const YamlExpr& call) {
  const YamlShape shape = ShapeOf(*ArgumentOf(call, "resource"));
  if (shape.member == nullptr) {
    if (shape.expr != nullptr) {
      Problem(ArgumentOf(call, "resource")->where,
              "'resource' must be a resource",
              "write it as ${name}");
    }
    return;
  }
  const YamlExprPtr method = ArgumentOf(call, "method");
  const auto token = shape.member->methods.find(*method->literal.as_string());
  if (token == shape.member->methods.end()) {
    std::vector<std::string> names;
    for (const auto& [name, function] : shape.member->methods) {
      names.push_back(name);
    }
    const std::string& wanted = *method->literal.as_string();
    Problem(method->where,
            fmt::format("'{}' has no method '{}'", shape.member->token, wanted),
            ExistingNames(wanted, std::move(names)));
    return;
  }
  const SchemaMember* function = packages_.Method(*shape.member, token->second).member;
  if (function == nullptr) {
    return;
  }
  SchemaObject inputs = function->inputs;
  inputs.properties.erase("__self__");
  std::erase(inputs.required, "__self__");
  const YamlExprPtr arguments = ArgumentOf(call, "arguments");
  if (!arguments || arguments->is_null()) {
    CheckObject({}, inputs, function->token, call.where, false);
  } else if (arguments->kind == YamlExpr::Kind::kMap) {
    CheckObject(FieldsOf(*arguments), inputs, function->token, call.where, false);
  }
  CheckReturn(call, *function);
}

}  // namespace davit
