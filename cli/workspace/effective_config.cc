#include "cli/workspace/effective_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/value/property_value.h"

namespace davit {
namespace {

ConfigNode NodeOf(const PropertyValue& value) {
  ConfigNode node;
  if (const bool* flag = value.as_bool()) {
    node.kind = ConfigNode::Kind::kBool;
    node.text = *flag ? "true" : "false";
  } else if (const double* number = value.as_number()) {
    node.kind =
        std::trunc(*number) == *number ? ConfigNode::Kind::kInteger : ConfigNode::Kind::kFloat;
    node.text = NumberText(*number);
  } else if (const std::string* text = value.as_string()) {
    node = ConfigNode::Text(*text);
  } else if (const PropertyList* list = value.as_list()) {
    node.kind = ConfigNode::Kind::kList;
    for (const PropertyValue& item : *list) {
      node.items.push_back(NodeOf(item));
    }
  } else if (const PropertyMap* map = value.as_map()) {
    node.kind = ConfigNode::Kind::kMap;
    for (const auto& [key, member] : *map) {
      node.members.emplace_back(key, NodeOf(member));
    }
  } else if (const Secret* secret = value.as_secret()) {
    node = NodeOf(secret->Reveal());
  }
  return node;
}

// A declared key: where its value is kept, and the path below it.
struct DeclaredKey {
  std::string key;  ///< normal key of the root value
  PropertyPath path;
};

Result<DeclaredKey> KeyOf(const ConfigDeclaration& declaration, const std::string& project) {
  const std::size_t colon = declaration.key.find(':');
  const std::string name =
      colon == std::string::npos ? declaration.key : declaration.key.substr(colon + 1);
  const std::string space = colon == std::string::npos ? project : declaration.key.substr(0, colon);
  DeclaredKey key;
  Result<PropertyPath> path = PropertyPath::Parse(name);
  const bool is_path =
      path && !path->empty() && std::holds_alternative<std::string>(path->segments()[0]);
  key.path = is_path ? *std::move(path) : PropertyPath({PathSegment(name)});
  key.key = space + ":" + std::get<std::string>(key.path.segments()[0]);
  return key;
}

const ConfigNode* FindDeclared(const std::map<std::string, ConfigNode>& values,
                               const DeclaredKey& key) {
  const auto root = values.find(key.key);
  return root == values.end() ? nullptr : FindAtPath(root->second, key.path);
}

// The name that users see: without the project's own namespace.
std::string ShownKey(const ConfigDeclaration& declaration, const std::string& project) {
  const std::string prefix = project + ":";
  return declaration.key.compare(0, prefix.size(), prefix) == 0
             ? declaration.key.substr(prefix.size())
             : declaration.key;
}

bool IsOwn(const ConfigDeclaration& declaration, const std::string& project) {
  return declaration.key.find(':') == std::string::npos ||
         declaration.key.compare(0, project.size() + 1, project + ":") == 0;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// One vocabulary for the types of both blocks (Y28); `list<T>` gives `array` and T.
struct DeclaredType {
  std::string name;
  std::string items;
};
DeclaredType TypeOf(const std::string& type, const std::string& items_type) {
  std::string name = Lower(type);
  std::erase(name, ' ');
  if (name.compare(0, 5, "list<") == 0 && name.back() == '>') {
    return {"array", name.substr(5, name.size() - 6)};
  }
  if (name == "int") {
    name = "integer";
  } else if (name == "bool") {
    name = "boolean";
  }
  return {name, items_type};
}

bool IsWhole(const ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::kFloat) {
    return node.text.find_first_of(".eE") == std::string::npos;
  }
  const std::string& text = node.text;
  const std::size_t begin = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  return text.size() > begin && text.find_first_not_of("0123456789", begin) == std::string::npos;
}

// S92. Secrets are judged by their clear text, which arrives as a text node.
bool Fits(const ConfigNode& node, const DeclaredType& type, const Decrypter& decrypt) {
  if (node.kind == ConfigNode::Kind::kSecure) {
    const Result<std::string> clear = decrypt(node.text);
    return clear && Fits(ConfigNode::Text(*clear), type, decrypt);
  }
  if (type.name == "string") {
    return !node.is_object() && node.kind != ConfigNode::Kind::kNull;
  }
  if (type.name == "integer") {
    return !node.is_object() && IsWhole(node);
  }
  if (type.name == "number") {
    const ConfigNode resolved = ResolvePlain(node.text);
    return !node.is_object() && (resolved.kind == ConfigNode::Kind::kInteger ||
                                 resolved.kind == ConfigNode::Kind::kFloat);
  }
  if (type.name == "boolean") {
    return node.text == "true" || node.text == "false";
  }
  if (type.name == "object") {
    return node.kind == ConfigNode::Kind::kMap;
  }
  if (type.name == "array") {
    const DeclaredType items = TypeOf(type.items, "");
    return node.kind == ConfigNode::Kind::kList &&
           std::all_of(node.items.begin(), node.items.end(), [&](const ConfigNode& item) {
             return type.items.empty() || Fits(item, items, decrypt);
           });
  }
  return true;
}

std::string Described(const DeclaredType& type) {
  return type.name == "array" && !type.items.empty() ? fmt::format("array<{}>", type.items)
                                                     : type.name;
}

}  // namespace

std::string QuotedList(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    out += "'" + names[i] + "'";
  }
  return out;
}

Result<EffectiveConfig> MergeConfig(const StackFile& file, const ProjectFile& project) {
  EffectiveConfig config;
  config.values = file.config();
  for (const ConfigDeclaration& declaration : project.config) {
    if (!declaration.has_default && !declaration.has_value) {
      continue;
    }
    DAVIT_TRY(const DeclaredKey key, KeyOf(declaration, project.name));
    if (FindDeclared(config.values, key) != nullptr) {
      continue;
    }
    ConfigNode value =
        NodeOf(declaration.has_value ? declaration.value : declaration.default_value);
    const auto root = config.values.find(key.key);
    if (key.path.segments().size() == 1) {
      config.values[key.key] = AsTopLevel(std::move(value));
      continue;
    }
    std::optional<ConfigNode> before;
    if (root != config.values.end()) {
      before = root->second;
    }
    DAVIT_TRY(config.values[key.key], SetAtPath(std::move(before), key.path, std::move(value)));
  }
  return config;
}

Result<void> ValidateConfig(const EffectiveConfig& config,
                            const StackFile& file,
                            const ProjectFile& project,
                            const std::string& stack,
                            const Decrypter& decrypt) {
  std::vector<std::string> missing;
  std::vector<std::string> faults;
  for (const ConfigDeclaration& declaration : project.config) {
    if (!IsOwn(declaration, project.name)) {
      continue;
    }
    DAVIT_TRY(const DeclaredKey key, KeyOf(declaration, project.name));
    const std::string shown = ShownKey(declaration, project.name);
    const ConfigNode* value = FindDeclared(config.values, key);
    if (value == nullptr) {
      missing.push_back(shown);
      continue;
    }
    if (declaration.type.empty()) {
      continue;
    }
    const ConfigNode* set = FindDeclared(file.config(), key);
    if (set != nullptr && declaration.is_secret && !HasSecure(*set)) {
      faults.push_back(fmt::format(
          "Stack '{}' with configuration key '{}' must be encrypted as it's secret; use "
          "`davit config set --secret {}`",
          stack,
          shown,
          shown));
    }
    const DeclaredType type = TypeOf(declaration.type, declaration.items_type);
    if (set != nullptr && !Fits(*set, type, decrypt)) {
      if (set->kind == ConfigNode::Kind::kSecure) {  // a wrong passphrase is not a wrong type
        DAVIT_TRY_VOID(decrypt(set->text));
      }
      faults.push_back(fmt::format("Stack '{}' with configuration key '{}' must be of type '{}'",
                                   stack,
                                   shown,
                                   Described(type)));
    }
  }
  if (!missing.empty()) {
    std::sort(missing.begin(), missing.end());
    faults.insert(faults.begin(),
                  fmt::format("Stack '{}' is missing configuration value{} {}",
                              stack,
                              missing.size() == 1 ? "" : "s",
                              QuotedList(missing)));
  }
  if (faults.empty()) {
    return {};
  }
  return Fail(
      ErrorKind::kInvalid,
      fmt::format("validating stack config: {}", fmt::join(faults, "\n    ")),
      faults.size() > (missing.empty() ? 0U : 1U) ? fmt::format("correct '{}'", file.path()) : "");
}

Result<std::map<std::string, ConfigValue>> Decrypted(const EffectiveConfig& config,
                                                     const StackFile& file,
                                                     const ProjectFile& project,
                                                     const Decrypter& decrypt) {
  std::map<std::string, ConfigValue> out;
  for (const auto& [key, node] : config.values) {
    Result<std::string> text = ConfigText(node, decrypt);
    if (!text) {
      return Fail(
          std::move(text.error())
              .WithContext(fmt::format("could not decrypt the configuration value '{}'", key)));
    }
    ConfigValue value;
    value.text = *std::move(text);
    value.is_secret = HasSecure(node);
    value.is_object = node.is_object();
    out.emplace(key, std::move(value));
  }
  for (const ConfigDeclaration& declaration : project.config) {
    DAVIT_TRY(const DeclaredKey key, KeyOf(declaration, project.name));
    const auto at = out.find(key.key);
    if (declaration.is_secret && at != out.end() && FindDeclared(file.config(), key) == nullptr) {
      at->second.is_secret = true;
    }
  }
  return out;
}

}  // namespace davit
