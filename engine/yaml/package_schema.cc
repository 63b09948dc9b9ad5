#include "engine/yaml/package_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/yaml/json_index.h"

namespace davit {
namespace {

using Json = nlohmann::json;

constexpr int kMaxTypeDepth = 100;

std::string Lower(std::string text) {
  std::ranges::transform(
      text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The tokens that a written one may stand for, in the order of Y81.
std::vector<std::string> Candidates(const std::string& token) {
  std::vector<std::string> candidates{token};
  std::string three = token;
  const std::size_t first = three.find(':');
  if (std::ranges::count(token, ':') == 1) {
    three = token.substr(0, first) + ":index" + token.substr(first);
    candidates.push_back(three);
  } else if (first != std::string::npos && token.compare(first, 2, "::") == 0) {
    three = token.substr(0, first) + ":index" + token.substr(first + 1);
    candidates.push_back(three);
  }
  const std::size_t second = three.find(':', first + 1);
  if (second != std::string::npos && three.find('/') == std::string::npos) {
    std::string name = three.substr(second + 1);
    if (!name.empty()) {
      std::string part = name;
      part[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(part[0])));
      candidates.push_back(three.substr(0, second) + "/" + part + ":" + name);
    }
  }
  return candidates;
}

// `%2F` and the like in references.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 2 < text.size()) {
      plain += static_cast<char>(std::strtol(std::string(text.substr(at + 1, 2)).c_str(), nullptr, 16));
      at += 2;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

PropertyValue ValueOf(const Json& json) {
  return json.is_boolean()  ? PropertyValue(json.get<bool>())
         : json.is_number() ? PropertyValue(json.get<double>())
         : json.is_string() ? PropertyValue(json.get<std::string>())
                            : PropertyValue();
}

std::string TextAt(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool FlagAt(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_boolean() && at->get<bool>();
}

const Json& ObjectAt(const Json& json, const char* key) {
  static const Json kNone = Json::object();
  const auto at = json.find(key);
  return at != json.end() && at->is_object() ? *at : kNone;
}

class JsonSchema final : public PackageSchema {
 public:
  JsonSchema(std::string package, std::string json)
      : package_(std::move(package)), json_(std::move(json)) {}

  bool Index() {
    std::string_view meta = "{}";
    const auto visit = [&](std::string_view section, std::string key, std::string_view text) {
      if (section == "resources") {
        resources_.Add(std::move(key), text);
      } else if (section == "functions") {
        functions_.Add(std::move(key), text);
      } else if (section == "types") {
        types_.Add(std::move(key), text);
      } else if (key == "provider") {
        provider_ = text;
      } else if (key == "version") {
        const Json version = Json::parse(text, nullptr, false);
        version_ = version.is_string() ? version.get<std::string>() : std::string();
      } else if (key == "meta") {
        meta = text;
      }
    };
    const bool is_object = VisitJsonMembers(json_, {"resources", "functions", "types"}, visit);
    const Json parsed = Json::parse(meta, nullptr, false);
    const std::string format = parsed.is_object() ? TextAt(parsed, "moduleFormat") : std::string();
    resources_.AddShortForms(format);
    functions_.AddShortForms(format);
    return is_object;
  }

  const SchemaMember* Resource(const std::string& token) override {
    if (token.starts_with("pulumi:providers:")) {
      if (token.substr(std::string_view("pulumi:providers:").size()) != package_) {  // Y82
        return nullptr;
      }
      return Decoded("resource " + token, token, provider_, true);
    }
    const std::string* found = resources_.Find(token);
    return found == nullptr
               ? nullptr
               : Decoded("resource " + *found, *found, resources_.spans.at(*found), true);
  }

  const SchemaMember* Function(const std::string& token) override {
    const std::string* found = functions_.Find(token);
    return found == nullptr
               ? nullptr
               : Decoded("function " + *found, *found, functions_.spans.at(*found), false);
  }

  const std::string& version() const override { return version_; }
  std::vector<std::string> ResourceTokens() const override { return resources_.Tokens(); }
  std::vector<std::string> FunctionTokens() const override { return functions_.Tokens(); }

 private:
  struct Section {
    std::map<std::string, std::string_view> spans;
    std::map<std::string, std::string> by_lower;  ///< short forms too; empty: ambiguous

    void Add(std::string key, std::string_view text) {
      by_lower.emplace(Lower(key), key);
      spans.emplace(std::move(key), text);
    }

    // Y81: `pkg:mod:T` for `pkg:mod_T:T` where the module format is `(.*)_[^_]*` or the like.
    void AddShortForms(const std::string& format) {
      const std::size_t close = format.find(')');
      const std::string rest = close == std::string::npos ? "" : format.substr(close + 1);
      const std::size_t mark = rest.find_first_of("_/");
      if (!format.starts_with("(.*)") || mark == std::string::npos ||
          rest.find("[^") == std::string::npos) {
        return;
      }
      std::map<std::string, std::string> short_forms;
      for (const auto& [token, span] : spans) {
        const std::size_t second = token.rfind(':');
        const std::size_t cut = token.rfind(rest[mark], second);
        if (second == std::string::npos || cut == std::string::npos || cut < token.find(':')) {
          continue;
        }
        const auto [at, is_new] =
            short_forms.emplace(Lower(token.substr(0, cut) + token.substr(second)), token);
        at->second = is_new ? token : std::string();
      }
      for (auto& [lower, token] : short_forms) {
        by_lower.emplace(lower, std::move(token));
      }
    }

    const std::string* Find(const std::string& token) const {
      for (const std::string& candidate : Candidates(token)) {
        const auto exact = spans.find(candidate);
        if (exact != spans.end()) {
          return &exact->first;
        }
        const auto at = by_lower.find(Lower(candidate));
        if (at != by_lower.end() && !at->second.empty()) {
          return &at->second;
        }
      }
      return nullptr;
    }

    std::vector<std::string> Tokens() const {
      std::vector<std::string> tokens;
      for (const auto& [token, span] : spans) {
        tokens.push_back(token);
      }
      return tokens;
    }
  };

  const SchemaMember* Decoded(const std::string& key,
                              const std::string& token,
                              std::string_view text,
                              bool is_resource) {
    const auto [at, is_new] = members_.try_emplace(key);
    SchemaMember& member = at->second;
    if (!is_new) {
      return &member;
    }
    member.token = token;
    member.outputs.kind = SchemaType::Kind::kObject;
    member.outputs.token = token;
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) {
      return &member;
    }
    member.deprecation = TextAt(json, "deprecationMessage");
    if (is_resource) {
      Resource(json, &member);
    } else {
      Function(json, &member);
    }
    return &member;
  }

  void Resource(const Json& json, SchemaMember* member) {
    member->is_component = FlagAt(json, "isComponent");
    member->inputs = Object(json, "inputProperties", "requiredInputs");
    member->outputs.object = Object(json, "properties", "required");
    for (const auto& [name, token] : ObjectAt(json, "methods").items()) {
      if (token.is_string()) {
        member->methods.emplace(name, token.get<std::string>());
      }
    }
    const auto aliases = json.find("aliases");
    if (aliases != json.end() && aliases->is_array()) {
      for (const Json& alias : *aliases) {
        const std::string type = alias.is_object() ? TextAt(alias, "type") : std::string();
        if (!type.empty()) {
          member->aliases.push_back(type);
        }
      }
    }
    std::set<std::string> paths;
    std::set<const SchemaType*> open;
    AddReplacing(member->inputs, "", &open, &paths);
    AddReplacing(member->outputs.object, "", &open, &paths);
    member->replace_on_changes.assign(paths.begin(), paths.end());
  }

  // Paths of the properties whose change replaces, `a.b` and `list[*].c` among them (Y88).
  static void AddReplacing(const SchemaObject& object,
                           const std::string& prefix,
                           std::set<const SchemaType*>* open,
                           std::set<std::string>* paths) {
    for (const auto& [name, property] : object.properties) {
      std::string path = prefix + name;
      if (property.replaces) {
        paths->insert(path);
        continue;
      }
      const SchemaType* type = property.type;
      while (type->element != nullptr && type->kind != SchemaType::Kind::kEnum) {
        path += type->kind == SchemaType::Kind::kList ? "[*]" : ".*";
        type = type->element;
      }
      if (type->kind == SchemaType::Kind::kObject && open->insert(type).second) {
        AddReplacing(type->object, path + ".", open, paths);
        open->erase(type);
      }
    }
  }

  void Function(const Json& json, SchemaMember* member) {
    member->inputs = Object(ObjectAt(json, "inputs"), "properties", "required");
    const auto returned = json.find("returnType");
    const bool has_scalar =
        returned != json.end() && returned->is_object() && !returned->contains("properties");
    if (has_scalar) {
      const SchemaType* type = Type(*returned, 0);
      // A function cannot return nothing known: what is returned bare is never an object here.
      member->outputs = *type;
      return;
    }
    const Json& outputs =
        returned != json.end() && returned->is_object() ? *returned : ObjectAt(json, "outputs");
    member->outputs.object = Object(outputs, "properties", "required");
  }

  SchemaObject Object(const Json& json, const char* section, const char* required, int depth = 0) {
    SchemaObject object;
    for (const auto& [name, property] : ObjectAt(json, section).items()) {
      SchemaProperty& held = object.properties[name];
      held.type = Type(property, depth + 1);
      if (!property.is_object()) {
        continue;
      }
      const auto constant = property.find("const");
      if (constant != property.end()) {
        held.constant = ValueOf(*constant);
      }
      const auto default_value = property.find("default");
      if (default_value != property.end() && default_value->is_primitive() &&
          !default_value->is_null()) {
        held.default_value = ValueOf(*default_value);
      }
      held.is_secret = FlagAt(property, "secret");
      held.replaces = FlagAt(property, "replaceOnChanges");
      held.deprecation = TextAt(property, "deprecationMessage");
    }
    const auto names = json.find(required);
    if (names != json.end() && names->is_array()) {
      for (const Json& name : *names) {
        if (name.is_string()) {
          object.required.push_back(name.get<std::string>());
        }
      }
    }
    return object;
  }

  const SchemaType* Basic(SchemaType::Kind kind) {
    SchemaType& type = basic_[kind];
    type.kind = kind;
    return &type;
  }

  SchemaType* New(SchemaType::Kind kind) {
    owned_.push_back(std::make_unique<SchemaType>());
    owned_.back()->kind = kind;
    return owned_.back().get();
  }

  const SchemaType* Type(const Json& json, int depth) {
    using Kind = SchemaType::Kind;
    if (!json.is_object() || depth > kMaxTypeDepth) {
      return Basic(Kind::kAny);
    }
    const std::string reference = TextAt(json, "$ref");
    if (!reference.empty()) {
      if (const SchemaType* type = Referred(reference, depth)) {
        return type;
      }
    }
    const auto choices = json.find("oneOf");
    if (choices != json.end() && choices->is_array()) {
      SchemaType* type = New(Kind::kUnion);
      for (const Json& choice : *choices) {
        type->members.push_back(Type(choice, depth + 1));
      }
      return type;
    }
    const std::string name = TextAt(json, "type");
    if (name == "array") {
      SchemaType* type = New(Kind::kList);
      const auto items = json.find("items");
      type->element = items == json.end() ? Basic(Kind::kAny) : Type(*items, depth + 1);
      return type;
    }
    if (name == "object") {
      SchemaType* type = New(Kind::kMap);
      const auto values = json.find("additionalProperties");
      // Without word of its values a map holds strings, as the reference's schema library reads it.
      type->element = values == json.end() ? Basic(Kind::kString) : Type(*values, depth + 1);
      return type;
    }
    return Basic(name == "string"    ? Kind::kString
                 : name == "boolean" ? Kind::kBoolean
                 : name == "integer" ? Kind::kInteger
                 : name == "number"  ? Kind::kNumber
                                     : Kind::kAny);
  }

  // Null for a type that this schema does not hold: it acts as its underlying type (Y151).
  const SchemaType* Referred(const std::string& reference, int depth) {
    using Kind = SchemaType::Kind;
    if (reference.starts_with("pulumi.json#/")) {
      const std::string name = reference.substr(13);
      return Basic(name == "Asset" ? Kind::kAsset : name == "Archive" ? Kind::kArchive : Kind::kAny);
    }
    if (reference.starts_with("#/resources/")) {
      SchemaType* type = New(Kind::kResource);
      type->token = Unescaped(reference.substr(12));
      return type;
    }
    if (!reference.starts_with("#/types/")) {
      return nullptr;
    }
    const std::string token = Unescaped(reference.substr(8));
    const auto known = named_.find(token);
    if (known != named_.end()) {
      return known->second;
    }
    const auto span = types_.spans.find(token);
    if (span == types_.spans.end()) {
      return nullptr;
    }
    const Json json = Json::parse(span->second, nullptr, false);
    SchemaType* type = New(Kind::kAny);
    named_.emplace(token, type);
    if (!json.is_object()) {
      return type;
    }
    type->token = token;
    const auto values = json.find("enum");
    if (values != json.end() && values->is_array()) {
      type->kind = Kind::kEnum;
      for (const Json& value : *values) {
        if (value.is_object() && value.contains("value")) {
          type->values.push_back(ValueOf(value["value"]));
        }
      }
      Json base = Json::object();
      base["type"] = TextAt(json, "type");
      type->element = Type(base, depth + 1);
    } else if (TextAt(json, "type") == "object") {
      type->kind = Kind::kObject;
      type->object = Object(json, "properties", "required", depth);
    }
    return type;
  }

  std::string package_;
  std::string version_;
  std::string json_;
  Section resources_;
  Section functions_;
  Section types_;
  std::string_view provider_ = "{}";
  std::map<std::string, SchemaMember> members_;
  std::map<std::string, const SchemaType*> named_;
  std::map<SchemaType::Kind, SchemaType> basic_;
  std::vector<std::unique_ptr<SchemaType>> owned_;
};

}  // namespace

std::string SchemaType::Text() const {
  switch (kind) {
    case Kind::kAny:
      return "any";
    case Kind::kString:
      return "string";
    case Kind::kBoolean:
      return "boolean";
    case Kind::kInteger:
      return "integer";
    case Kind::kNumber:
      return "number";
    case Kind::kAsset:
      return "asset";
    case Kind::kArchive:
      return "archive";
    case Kind::kList:
      return fmt::format("List<{}>", element->Text());
    case Kind::kMap:
      return fmt::format("Map<{}>", element->Text());
    case Kind::kUnion: {
      std::string text;
      for (const SchemaType* member : members) {
        text += (text.empty() ? "" : ", ") + member->Text();
      }
      return fmt::format("Union<{}>", text);
    }
    case Kind::kObject:
    case Kind::kEnum:
    case Kind::kResource:
      return token;
  }
  return {};
}

Result<std::unique_ptr<PackageSchema>> ParsePackageSchema(const std::string& package,
                                                          std::string json) {
  auto schema = std::make_unique<JsonSchema>(package, std::move(json));
  if (!schema->Index()) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("the schema of the package '{}' is not a JSON object", package),
                "this is a fault of the plugin");
  }
  return std::unique_ptr<PackageSchema>(std::move(schema));
}

}  // namespace davit
