// Components made of resources: their schema, and that none contains itself (Y191, Y196).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

// True when `component` leads back to a component in `open`.
bool LeadsBack(const YamlProgram& program,
               const YamlComponent& component,
               std::set<const YamlComponent*>* open) {
  if (!open->insert(&component).second) {
    return true;
  }
  const bool leads_back = std::ranges::any_of(
      component.program->resources, [&](const YamlResource& resource) {
        const YamlComponent* inner = ComponentOf(program, resource.type);
        return inner != nullptr && LeadsBack(program, *inner, open);
      });
  open->erase(&component);
  return leads_back;
}

PropertyMap InputSchema(const YamlConfig& input) {
  PropertyMap schema;
  if (input.type == "list") {
    schema["type"] = "array";
    schema["items"] = PropertyMap{{"$ref", "pulumi.json#/Any"}};
  } else {
    schema["type"] = input.type;
  }
  if (input.is_secret) {
    schema["secret"] = true;
  }
  if (input.default_value && !input.default_value->literal.is_null()) {
    schema["default"] = input.default_value->literal;
  }
  schema["defaultInfo"] = PropertyMap{{"environment", PropertyList{input.symbol}}};
  return schema;
}

}  // namespace

const YamlComponent* ComponentOf(const YamlProgram& program, const std::string& type) {
  const std::string own = program.project + ":";
  if (program.components.empty() || !type.starts_with(own)) {
    return nullptr;
  }
  std::string name = type.substr(own.size());
  if (name.starts_with("index:")) {
    name = name.substr(6);
  }
  const auto at = std::ranges::find(program.components, name, &YamlComponent::name);
  return at == program.components.end() ? nullptr : &*at;
}

std::string ComponentSchema(const std::string& package,
                            const std::string& version,
                            const std::vector<YamlComponent>& components) {
  PropertyMap resources;
  for (const YamlComponent& component : components) {
    PropertyMap inputs;
    PropertyList required;
    for (const YamlConfig& input : component.program->config) {
      inputs[input.symbol] = InputSchema(input);
      if (!input.default_value) {
        required.emplace_back(input.symbol);
      }
    }
    PropertyMap outputs;
    PropertyList names;
    for (const YamlVariable& output : component.program->outputs) {
      outputs[output.key] = PropertyMap{{"$ref", "pulumi.json#/Any"}};
      names.emplace_back(output.key);
    }
    resources[package + ":index:" + component.name] =
        PropertyMap{{"isComponent", true},
                    {"inputProperties", std::move(inputs)},
                    {"requiredInputs", std::move(required)},
                    {"properties", std::move(outputs)},
                    {"required", std::move(names)}};
  }
  const PropertyValue schema = PropertyMap{{"name", package},
                                           {"version", version.empty() ? "0.0.0" : version},
                                           {"resources", std::move(resources)}};
  return *JsonText(schema);
}

void CheckNesting(const YamlProgram& program, std::vector<Error>* errors) {
  for (const YamlComponent& component : program.components) {
    std::set<const YamlComponent*> open;
    if (LeadsBack(program, component, &open)) {
      Error error = MakeError(ErrorKind::kInvalid,
                              fmt::format("the component '{}' contains itself", component.name),
                              "take the resource of its own type out of it");
      error.where = component.where;
      errors->push_back(std::move(error));
    }
  }
}

}  // namespace davit
