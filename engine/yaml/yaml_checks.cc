// What is checked against schemas and configuration before anything is registered (Y81-Y88, Y134,
// Y153).
#include <fmt/format.h>

#include <algorithm>

#include "engine/yaml/evaluation.h"
#include "engine/yaml/nearest.h"

namespace davit {
namespace {

std::string LiteralOption(const YamlResource& resource, std::string_view name) {
  const YamlOption* option = resource.Option(name);
  const std::string* text = option == nullptr ? nullptr : option->value->literal.as_string();
  return text == nullptr ? std::string() : *text;
}

struct UsedToken {
  std::string token;
  std::string version;
  std::string url;
  SourceRange where;
};

// Function tokens of an expression, with their places.
void FunctionTokens(const YamlExprPtr& expr, std::vector<UsedToken>* tokens) {
  if (!expr) {
    return;
  }
  VisitCalls(*expr, [&](const YamlExpr& call) {
    if (call.function.find(':') != std::string::npos) {
      tokens->push_back({call.function, {}, {}, call.where});
    } else if (call.function == "invoke" && call.argument->kind == YamlExpr::Kind::kMap) {
      for (const auto& [key, value] : call.argument->entries) {
        const std::string* name = key->literal.as_string();
        if (name != nullptr && (*name == "function" || *name == "Function") &&
            value->literal.is_string()) {
          tokens->push_back({*value->literal.as_string(), {}, {}, value->where});
        }
      }
    }
  });
}

std::vector<UsedToken> AllFunctionTokens(const YamlProgram& program) {
  std::vector<UsedToken> tokens;
  for (const YamlConfig& config : program.config) {
    FunctionTokens(config.default_value, &tokens);
  }
  for (const YamlResource& resource : program.resources) {
    for (const YamlProperty& property : resource.properties) {
      FunctionTokens(property.value, &tokens);
    }
    FunctionTokens(resource.properties_expr, &tokens);
    FunctionTokens(resource.get_id, &tokens);
    for (const YamlOption& option : resource.options) {
      FunctionTokens(option.value, &tokens);
    }
  }
  for (const YamlVariable& variable : program.variables) {
    FunctionTokens(variable.value, &tokens);
  }
  for (const YamlVariable& output : program.outputs) {
    FunctionTokens(output.value, &tokens);
  }
  return tokens;
}

bool HasThreeParts(const std::string& token) {
  return std::ranges::count(token, ':') == 2;
}

}  // namespace

std::vector<PackageDescriptor> PackagesOf(const YamlProgram& program) {
  std::map<std::string, PackageDescriptor> packages;
  const auto add =
      [&](const std::string& token, const std::string& version, const std::string& url) {
        const std::string name(PackageOf(token));
        if (name.empty()) {
          return;
        }
        const auto [at, is_first] = packages.try_emplace(name);
        if (is_first) {  // recorded (y-default-version): the first one in the file decides
          at->second.name = name;
          at->second.version = version;
          at->second.download_url = url;
        }
      };
  for (const YamlResource& resource : program.resources) {
    add(resource.type,
        LiteralOption(resource, "version"),
        LiteralOption(resource, "pluginDownloadURL"));
  }
  for (const UsedToken& used : AllFunctionTokens(program)) {
    add(used.token, {}, {});
  }
  std::vector<PackageDescriptor> list;
  for (auto& [name, package] : packages) {
    list.push_back(std::move(package));
  }
  return list;
}

Task<void> YamlRun::LoadSchemas() {
  for (PackageDescriptor package : PackagesOf(program_)) {
    const std::string name = package.name;
    Result<std::string> json = co_await monitor_.GetSchema(std::move(package));
    if (!json) {
      if (json.error().kind == ErrorKind::kUnimplemented) {  // Y87
        schemas_[name] = nullptr;
        continue;
      }
      Error error = std::move(json).error();
      for (const YamlResource& resource : program_.resources) {
        if (!error.where && PackageOf(resource.type) == name) {
          error.where = resource.type_where;
        }
      }
      Report(std::move(error));
      continue;
    }
    Result<std::unique_ptr<PackageSchema>> schema = ParsePackageSchema(name, *json);
    if (!schema) {
      Report(std::move(schema).error());
      continue;
    }
    schemas_[name] = *std::move(schema);
  }
}

void YamlRun::CheckUndeclared() {
  for (const YamlAccess& access : program_.undeclared) {
    if (!info_.config.contains(info_.project + ":" + access.root)) {
      std::vector<std::string> names;
      for (const auto& [name, node] : program_.names) {
        names.push_back(name);
      }
      Problem(access.where,
              fmt::format("no resource, variable or config value is named '{}'", access.root),
              DidYouMean(access.root, names));
    }
  }
}

void YamlRun::CheckProperties(const YamlResource& resource, const SchemaMember& member) {
  const std::vector<std::string> inputs(member.inputs.begin(), member.inputs.end());
  const bool is_provider = resource.type.starts_with(kProviderTypePrefix);
  for (const YamlProperty& property : resource.properties) {
    const bool is_general =
        is_provider && (property.name == "version" || property.name == "pluginDownloadURL");
    if (!member.inputs.contains(property.name) && !is_general) {
      Problem(property.where,
              fmt::format("'{}' has no property '{}'", member.token, property.name),
              ExistingNames(property.name, inputs));
    }
  }
  if (resource.get_id || resource.properties_expr) {
    return;
  }
  for (const std::string& name : member.required_inputs) {
    const bool is_given =
        std::ranges::any_of(resource.properties, [&](const YamlProperty& property) {
          return property.name == name && !property.value->is_null();
        });
    if (!is_given) {
      Problem(resource.where,
              fmt::format("the resource '{}' lacks the property '{}'", resource.key, name),
              fmt::format("'{}' requires it", member.token));
    }
  }
}

void YamlRun::CheckResources() {
  for (const YamlResource& resource : program_.resources) {
    const std::string package(PackageOf(resource.type));
    const auto schema = schemas_.find(package);
    if (schema == schemas_.end() || !schema->second) {
      if (!HasThreeParts(resource.type)) {
        Problem(resource.type_where,
                fmt::format("the plugin '{}' has no schema, so '{}' cannot be looked up",
                            package,
                            resource.type),
                "write the type in full, as package:module:Name");
      }
      continue;
    }
    const SchemaMember* member = schema->second->Resource(resource.type);
    if (member == nullptr) {
      Problem(resource.type_where,
              fmt::format("the package '{}' has no resource type '{}'", package, resource.type),
              DidYouMean(resource.type, schema->second->ResourceTokens()));
      continue;
    }
    CheckProperties(resource, *member);
  }
  for (const UsedToken& used : AllFunctionTokens(program_)) {
    const std::string package(PackageOf(used.token));
    const auto schema = schemas_.find(package);
    if (schema != schemas_.end() && schema->second &&
        schema->second->Function(used.token) == nullptr) {
      Problem(used.where,
              fmt::format("the package '{}' has no function '{}'", package, used.token),
              DidYouMean(used.token, schema->second->FunctionTokens()));
    }
  }
}

}  // namespace davit
