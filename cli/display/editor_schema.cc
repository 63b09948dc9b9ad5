#include "cli/display/editor_schema.h"

#include <algorithm>
#include <map>
#include <set>

#include "cli/json_writer.h"
#include "engine/yaml/program.h"

namespace davit {
namespace {

using Kind = SchemaType::Kind;

// The name of a definition: a slash would begin a part of a JSON pointer.
std::string DefinitionName(const char* section, std::string token) {
  std::ranges::replace(token, '/', '.');
  return std::string(section) + " " + token;
}

// As a program may write a token: whole, and without what Y81 adds.
std::set<std::string> Spellings(const std::string& token) {
  std::set<std::string> spellings{token};
  const std::size_t first = token.find(':');
  const std::size_t second = token.find(':', first + 1);
  if (second == std::string::npos || token.starts_with("pulumi:providers:")) {
    return spellings;
  }
  std::string module = token.substr(first + 1, second - first - 1);
  const std::string name = token.substr(second + 1);
  const std::size_t slash = module.find('/');
  if (slash != std::string::npos && module.size() - slash == name.size() + 1) {
    module.resize(slash);
    spellings.insert(token.substr(0, first + 1) + module + ":" + name);
  }
  if (module == "index") {
    spellings.insert(token.substr(0, first + 1) + name);
  }
  return spellings;
}

class EditorWriter {
 public:
  std::string Write(const std::vector<EditorPackage>& packages) {
    for (const EditorPackage& package : packages) {
      for (const std::string& token : package.schema->ResourceTokens()) {
        AddResource(*package.schema, token);
      }
      AddResource(*package.schema, "pulumi:providers:" + package.name);
    }
    json_.BeginObject();
    json_.Key("$schema").String("http://json-schema.org/draft-07/schema#");
    json_.Key("title").String("Pulumi YAML program");
    json_.Key("type").String("object");
    json_.Key("properties").BeginObject();
    json_.Key("name").BeginObject().Key("type").String("string").EndObject();
    for (const char* section : {"config", "variables", "outputs", "components", "pulumi"}) {
      Mapping(section);
    }
    json_.Key("runtime").BeginObject().EndObject();
    json_.Key("resources").BeginObject();
    json_.Key("type").BeginArray().String("object").String("null").EndArray();
    json_.Key("additionalProperties");
    Reference("resource");
    json_.EndObject();
    json_.EndObject();
    json_.Key("definitions").BeginObject();
    Expression();
    Resource();
    for (const auto& [token, member] : resources_) {
      json_.Key(DefinitionName("inputs", token));
      Object(member->inputs);
    }
    while (!wanted_.empty()) {  // types refer to further ones
      const SchemaType* type = wanted_.back();
      wanted_.pop_back();
      json_.Key(DefinitionName("type", type->token));
      Object(type->object);
    }
    json_.EndObject();
    json_.EndObject();
    return json_.Take() + "\n";
  }

 private:
  void AddResource(PackageSchema& schema, const std::string& token) {
    const SchemaMember* member = schema.Resource(token);
    if (member != nullptr) {
      resources_.emplace(token, member);
    }
  }

  void Mapping(const char* key) {
    json_.Key(key).BeginObject();
    json_.Key("type").BeginArray().String("object").String("null").EndArray();
    json_.EndObject();
  }

  void Reference(const std::string& definition) {
    std::string escaped;  // a blank is no character of a URI
    for (const char c : definition) {
      escaped += c == ' ' ? std::string("%20") : std::string(1, c);
    }
    json_.BeginObject().Key("$ref").String("#/definitions/" + escaped).EndObject();
  }

  // What may stand for every value (Y60, Y94).
  void Expression() {
    json_.Key("expression").BeginObject().Key("anyOf").BeginArray();
    json_.BeginObject().Key("type").String("null").EndObject();
    json_.BeginObject().Key("type").String("string").Key("pattern").String("\\$\\{").EndObject();
    json_.BeginObject().Key("type").String("object");
    json_.Key("patternProperties").BeginObject();
    json_.Key("^[Ff][Nn]::").BeginObject().EndObject();
    json_.EndObject();
    json_.Key("minProperties").Integer(1).Key("maxProperties").Integer(1);
    json_.Key("additionalProperties").Bool(false);
    json_.EndObject();
    json_.EndArray().EndObject();
  }

  void Resource() {
    json_.Key("resource").BeginObject();
    json_.Key("type").String("object");
    json_.Key("required").BeginArray().String("type").EndArray();
    json_.Key("properties").BeginObject();
    json_.Key("type").BeginObject().Key("anyOf").BeginArray();
    json_.BeginObject().Key("enum").BeginArray();
    for (const auto& [token, member] : resources_) {
      for (const std::string& spelling : Spellings(token)) {
        json_.String(spelling);
      }
    }
    json_.EndArray().EndObject();
    json_.BeginObject().Key("type").String("string").EndObject();  // of another package, or case
    json_.EndArray().EndObject();
    json_.Key("name").BeginObject().Key("type").String("string").EndObject();
    json_.Key("defaultProvider").BeginObject().Key("type").String("boolean").EndObject();
    json_.Key("properties").BeginObject().EndObject();
    json_.Key("get").BeginObject().Key("type").String("object");
    json_.Key("required").BeginArray().String("id").EndArray();
    json_.Key("properties").BeginObject();
    json_.Key("id").BeginObject().EndObject().Key("state").BeginObject().EndObject();
    json_.EndObject().EndObject();
    json_.Key("options").BeginObject();
    json_.Key("type").BeginArray().String("object").String("null").EndArray();
    json_.Key("properties").BeginObject();
    for (const std::string& option : YamlOptionNames()) {
      json_.Key(option).BeginObject().EndObject();
    }
    json_.EndObject().EndObject();
    json_.EndObject();
    json_.Key("allOf").BeginArray();
    for (const auto& [token, member] : resources_) {
      json_.BeginObject();
      json_.Key("if").BeginObject();
      json_.Key("properties").BeginObject().Key("type").BeginObject().Key("enum").BeginArray();
      for (const std::string& spelling : Spellings(token)) {
        json_.String(spelling);
      }
      json_.EndArray().EndObject().EndObject();
      json_.Key("required").BeginArray().String("type").EndArray();
      json_.EndObject();
      json_.Key("then").BeginObject().Key("properties").BeginObject().Key("properties");
      OrExpression([&] { Reference(DefinitionName("inputs", token)); });
      json_.EndObject().EndObject();
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  template <typename Form>
  void OrExpression(Form form) {
    json_.BeginObject().Key("anyOf").BeginArray();
    form();
    Reference("expression");
    json_.EndArray().EndObject();
  }

  void Object(const SchemaObject& object) {
    json_.BeginObject();
    json_.Key("type").String("object");
    json_.Key("properties").BeginObject();
    for (const auto& [name, property] : object.properties) {
      json_.Key(name);
      Type(*property.type);
    }
    json_.EndObject();
    json_.Key("required").BeginArray();
    for (const std::string& name : object.required) {
      const auto property = object.properties.find(name);
      const bool is_given = property != object.properties.end() &&
                            (property->second.constant || property->second.default_value);
      if (!is_given) {  // Y88: the schema's own value is sent
        json_.String(name);
      }
    }
    json_.EndArray();
    json_.Key("additionalProperties").Bool(false);
    json_.EndObject();
  }

  void Named(std::initializer_list<const char*> types) {
    json_.BeginObject().Key("type").BeginArray();
    for (const char* type : types) {
      json_.String(type);
    }
    json_.EndArray().EndObject();
  }

  void Values(const SchemaType& type) {
    json_.BeginObject().Key("enum").BeginArray();
    for (const PropertyValue& value : type.values) {
      if (const std::string* text = value.as_string()) {
        json_.String(*text);
      } else if (const double* number = value.as_number()) {
        json_.Number(*number);
      } else if (const bool* flag = value.as_bool()) {
        json_.Bool(*flag);
      } else {
        json_.Null();
      }
    }
    json_.EndArray().EndObject();
  }

  void Type(const SchemaType& type) {
    switch (type.kind) {
      case Kind::kAny:
        json_.BeginObject().EndObject();
        return;
      case Kind::kAsset:
      case Kind::kArchive:
      case Kind::kResource:
        Reference("expression");
        return;
      case Kind::kString:  // Y151
        return OrExpression([&] { Named({"string", "number", "boolean"}); });
      case Kind::kBoolean:
        return OrExpression([&] { Named({"boolean"}); });
      case Kind::kInteger:  // Y151: integer and number are one to the checker
      case Kind::kNumber:
        return OrExpression([&] { Named({"number"}); });
      case Kind::kEnum:
        return OrExpression([&] { Values(type); });
      case Kind::kObject:
        if (known_.insert(type.token).second) {
          wanted_.push_back(&type);
        }
        return OrExpression([&] { Reference(DefinitionName("type", type.token)); });
      case Kind::kList:
      case Kind::kMap:
        return OrExpression([&] {
          const bool is_list = type.kind == Kind::kList;
          json_.BeginObject().Key("type").String(is_list ? "array" : "object");
          json_.Key(is_list ? "items" : "additionalProperties");
          Type(*type.element);
          json_.EndObject();
        });
      case Kind::kUnion:
        json_.BeginObject().Key("anyOf").BeginArray();
        for (const SchemaType* member : type.members) {
          Type(*member);
        }
        json_.EndArray().EndObject();
        return;
    }
  }

  JsonWriter json_;
  std::map<std::string, const SchemaMember*> resources_;
  std::set<std::string> known_;  ///< types that are written, or wanted
  std::vector<const SchemaType*> wanted_;
};

}  // namespace

std::string EditorSchema(const std::vector<EditorPackage>& packages) {
  return EditorWriter().Write(packages);
}

}  // namespace davit
