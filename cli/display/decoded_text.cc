#include "cli/display/decoded_text.h"

#include <cstdlib>

#include "cli/workspace/config_node.h"
#include "engine/yaml/marked_tree.h"

namespace davit {
namespace {

PropertyValue ValueOf(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      return PropertyValue();
    case ConfigNode::Kind::kBool:
      return PropertyValue(node.text == "true");
    case ConfigNode::Kind::kInteger:
    case ConfigNode::Kind::kFloat:
      return PropertyValue(std::strtod(node.text.c_str(), nullptr));
    case ConfigNode::Kind::kText:
      return PropertyValue(node.text);
    case ConfigNode::Kind::kSecure: {
      PropertyMap map;
      map.emplace("secure", node.text);
      return map;
    }
    case ConfigNode::Kind::kList: {
      PropertyList list;
      for (const ConfigNode& item : node.items) {
        list.push_back(ValueOf(item));
      }
      return list;
    }
    case ConfigNode::Kind::kMap: {
      PropertyMap map;
      for (const auto& [key, value] : node.members) {
        map.insert_or_assign(key, ValueOf(value));
      }
      return map;
    }
  }
  return PropertyValue();
}

// JSON is YAML whose collections all stand between brackets and whose texts all stand between
// double quotes.
bool IsJson(const MarkedNode& node) {
  if (node.kind != MarkedNode::Kind::kScalar) {
    if (node.style != MarkedNode::Style::kFlow) {
      return false;
    }
    for (const MarkedNode& item : node.items) {
      if (!IsJson(item)) {
        return false;
      }
    }
    return true;
  }
  return node.style == MarkedNode::Style::kDoubleQuoted ||
         (node.style == MarkedNode::Style::kPlain &&
          ResolvePlain(node.value).kind != ConfigNode::Kind::kText);
}

}  // namespace

std::optional<DecodedText> DecodeText(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return std::nullopt;
  }
  const bool has_bracket = text[first] == '{' || text[first] == '[';
  const bool has_lines = text.find('\n') != std::string::npos;
  if (!has_bracket && !has_lines) {
    return std::nullopt;
  }
  const Result<std::optional<MarkedNode>> root = ParseMarkedYaml(text, "");
  if (!root || !*root || (*root)->kind == MarkedNode::Kind::kScalar) {
    return std::nullopt;
  }
  const bool is_json = has_bracket && IsJson(**root);
  if (!is_json && !has_lines) {
    return std::nullopt;
  }
  const Result<ConfigNode> node = ConfigNodeOf(**root);
  if (!node) {
    return std::nullopt;
  }
  return DecodedText{is_json ? "json" : "yaml", ValueOf(*node)};
}

}  // namespace davit
