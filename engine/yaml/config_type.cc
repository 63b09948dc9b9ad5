#include "engine/yaml/config_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/yaml/scalar.h"

namespace davit {
namespace {

std::string Folded(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != ' ' && c != '\t') {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return out;
}

bool IsDecimalInteger(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsNumberText(std::string text) {
  YamlNode node;
  ResolveScalar(std::move(text), "", true, &node);
  return node.kind == YamlNode::Kind::kNumber;
}

std::optional<ConfigType> Parse(std::string_view text) {
  ConfigType type;
  if (text == "string") {
    type.kind = ConfigType::Kind::kString;
  } else if (text == "number") {
    type.kind = ConfigType::Kind::kNumber;
  } else if (text == "int" || text == "integer") {
    type.kind = ConfigType::Kind::kInteger;
  } else if (text == "bool" || text == "boolean") {
    type.kind = ConfigType::Kind::kBoolean;
  } else if (text == "object") {
    type.kind = ConfigType::Kind::kObject;
  } else if (text == "array") {
    type.kind = ConfigType::Kind::kList;
  } else if (text.starts_with("list<") && text.ends_with('>')) {
    std::optional<ConfigType> items = Parse(text.substr(5, text.size() - 6));
    if (!items) {
      return std::nullopt;
    }
    type.kind = ConfigType::Kind::kList;
    type.items = std::make_shared<const ConfigType>(*std::move(items));
  } else {
    return std::nullopt;
  }
  return type;
}

}  // namespace

std::optional<ConfigType> ParseConfigType(std::string_view text) {
  return Parse(Folded(text));
}

std::string ConfigType::Text() const {
  switch (kind) {
    case Kind::kString:
      return "string";
    case Kind::kNumber:
      return "number";
    case Kind::kInteger:
      return "integer";
    case Kind::kBoolean:
      return "boolean";
    case Kind::kObject:
      return "object";
    case Kind::kList:
      return items == nullptr ? "array" : fmt::format("list<{}>", items->Text());
  }
  return "string";
}

bool ConfigType::Fits(const YamlNode& node) const {
  switch (kind) {
    case Kind::kString:
      return node.is_string();
    case Kind::kNumber:
      return node.kind == YamlNode::Kind::kNumber || (node.is_string() && IsNumberText(node.text));
    case Kind::kInteger:
      return (node.kind == YamlNode::Kind::kNumber && std::floor(node.number) == node.number) ||
             (node.is_string() && IsDecimalInteger(node.text));
    case Kind::kBoolean:
      return node.kind == YamlNode::Kind::kBool || node.text == "true" || node.text == "false";
    case Kind::kObject:
      return node.is_map();
    case Kind::kList:
      return node.is_list() &&
             (items == nullptr ||
              std::all_of(node.items.begin(), node.items.end(), [&](const YamlNode& item) {
                return items->Fits(item);
              }));
  }
  return false;
}

}  // namespace davit
