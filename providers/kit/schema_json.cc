// SchemaJson: declarations to JSON.

#include "host/wire/json_text.h"
#include "providers/kit/package_schema.h"

namespace davit::kit {
namespace {

// Schemas hold null, booleans, numbers, text, lists and maps only.
void AppendJson(const PropertyValue& value, std::string* out) {
  if (const bool* flag = value.as_bool()) {
    *out += *flag ? "true" : "false";
  } else if (const double* number = value.as_number()) {
    *out += NumberText(*number);
  } else if (const std::string* text = value.as_string()) {
    AppendJsonText(*text, out);
  } else if (const PropertyList* list = value.as_list()) {
    *out += '[';
    for (std::size_t index = 0; index < list->size(); ++index) {
      *out += index == 0 ? "" : ",";
      AppendJson((*list)[index], out);
    }
    *out += ']';
  } else if (const PropertyMap* map = value.as_map()) {
    *out += '{';
    bool first = true;
    for (const auto& [key, item] : *map) {
      *out += first ? "" : ",";
      first = false;
      AppendJsonText(key, out);
      *out += ':';
      AppendJson(item, out);
    }
    *out += '}';
  } else {
    *out += "null";
  }
}

PropertyMap TypeSpec(const SchemaType& type) {
  PropertyMap spec;
  switch (type.kind()) {
    case SchemaType::Kind::kAny:
      spec["$ref"] = "pulumi.json#/Any";
      break;
    case SchemaType::Kind::kString:
      spec["type"] = "string";
      break;
    case SchemaType::Kind::kNumber:
      spec["type"] = "number";
      break;
    case SchemaType::Kind::kInteger:
      spec["type"] = "integer";
      break;
    case SchemaType::Kind::kBoolean:
      spec["type"] = "boolean";
      break;
    case SchemaType::Kind::kList:
      spec["type"] = "array";
      spec["items"] = TypeSpec(type.arguments().front());
      break;
    case SchemaType::Kind::kMap:
      spec["type"] = "object";
      spec["additionalProperties"] = TypeSpec(type.arguments().front());
      break;
    case SchemaType::Kind::kOneOf: {
      PropertyList alternatives;
      for (const SchemaType& alternative : type.arguments()) {
        alternatives.emplace_back(TypeSpec(alternative));
      }
      spec["oneOf"] = std::move(alternatives);
      break;
    }
  }
  return spec;
}

PropertyMap PropertySpec(const PropertySchema& property) {
  PropertyMap spec = TypeSpec(property.type);
  if (!property.description.empty()) {
    spec["description"] = property.description;
  }
  if (property.secret) {
    spec["secret"] = true;
  }
  if (property.replace_on_changes) {
    spec["willReplaceOnChanges"] = true;
  }
  if (!property.default_value.is_null()) {
    spec["default"] = property.default_value;
  }
  return spec;
}

// Puts `properties` under one key and the names of the required ones under another.
void AddProperties(const std::vector<PropertySchema>& properties,
                   const char* properties_key,
                   const char* required_key,
                   PropertyMap* out) {
  PropertyMap specs;
  PropertyList required;
  for (const PropertySchema& property : properties) {
    specs[property.name] = PropertySpec(property);
    if (property.required) {
      required.emplace_back(property.name);
    }
  }
  (*out)[properties_key] = std::move(specs);
  if (!required.empty()) {
    (*out)[required_key] = std::move(required);
  }
}

PropertyMap ResourceSpec(const ResourceSchema& resource) {
  std::vector<PropertySchema> outputs = resource.outputs;
  for (const PropertySchema& input : resource.inputs) {
    bool is_declared = false;
    for (const PropertySchema& output : resource.outputs) {
      is_declared = is_declared || output.name == input.name;
    }
    if (!is_declared) {
      outputs.push_back(input);
      outputs.back().default_value = {};
      outputs.back().replace_on_changes = false;
    }
  }
  PropertyMap spec;
  spec["description"] = resource.description;
  AddProperties(outputs, "properties", "required", &spec);
  AddProperties(resource.inputs, "inputProperties", "requiredInputs", &spec);
  return spec;
}

PropertyMap FunctionSpec(const FunctionSchema& function) {
  PropertyMap inputs;
  AddProperties(function.inputs, "properties", "required", &inputs);
  PropertyMap outputs;
  AddProperties(function.outputs, "properties", "required", &outputs);
  PropertyMap spec;
  spec["description"] = function.description;
  spec["inputs"] = std::move(inputs);
  spec["outputs"] = std::move(outputs);
  return spec;
}

}  // namespace

std::string SchemaJson(const PackageSchema& package) {
  PropertyMap resources;
  for (const ResourceSchema& resource : package.resources) {
    resources[resource.token] = ResourceSpec(resource);
  }
  PropertyMap functions;
  for (const FunctionSchema& function : package.functions) {
    functions[function.token] = FunctionSpec(function);
  }
  PropertyMap config;
  AddProperties(package.config, "variables", "required", &config);
  PropertyMap provider;
  AddProperties(package.config, "inputProperties", "requiredInputs", &provider);
  PropertyMap spec;
  spec["name"] = package.name;
  spec["version"] = package.version;
  spec["description"] = package.description;
  spec["config"] = std::move(config);
  spec["provider"] = std::move(provider);
  spec["resources"] = std::move(resources);
  spec["functions"] = std::move(functions);
  std::string text;
  AppendJson(spec, &text);
  return text;
}

}  // namespace davit::kit
