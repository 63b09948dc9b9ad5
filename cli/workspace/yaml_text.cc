#include "cli/workspace/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/value/property_value.h"

namespace davit {
namespace {

constexpr std::string_view kOldBooleans[] = {"y",
                                             "Y",
                                             "yes",
                                             "Yes",
                                             "YES",
                                             "on",
                                             "On",
                                             "ON",
                                             "n",
                                             "N",
                                             "no",
                                             "No",
                                             "NO",
                                             "off",
                                             "Off",
                                             "OFF"};

bool ReadsAsOther(std::string_view text) {
  const ConfigNode resolved = ResolvePlain(text);
  return resolved.kind != ConfigNode::Kind::kText || resolved.text != text ||
         std::find(std::begin(kOldBooleans), std::end(kOldBooleans), text) !=
             std::end(kOldBooleans);
}

bool HasControls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7F;
  });
}

// Whether the text may stand without quotes.
bool FitsPlain(std::string_view text, bool in_flow) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') {
    return false;
  }
  if (text.substr(0, 3) == "---" || text.substr(0, 3) == "...") {
    return false;
  }
  const std::string_view first = text.substr(0, 1);
  if (std::string_view(",[]{}#&*!|>'\"%@`=<").find(first) != std::string_view::npos) {
    return false;
  }
  if ((first == "-" || first == "?" || first == ":") &&
      (text.size() == 1 || text[1] == ' ' || in_flow)) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if ((c == ':' && (in_flow || next == ' ')) || (c == '#' && text[i - 1] == ' ')) {
      return false;
    }
    if (in_flow && std::string_view(",?[]{}").find(c) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string DoubleQuoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02X}", byte) : std::string(1, c);
    }
  }
  return out + '"';
}

std::string SingleQuoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    out += c == '\'' ? "''" : std::string(1, c);
  }
  return out + "'";
}

std::string Literal(std::string_view text, std::size_t indent) {
  std::string out = "|";
  if (text.front() == ' ' || text.front() == '\n') {
    out += '2';
  }
  if (text.back() != '\n') {
    out += '-';
  } else if (text.size() == 1 || text[text.size() - 2] == '\n') {
    out += '+';
  }
  const std::string blanks(indent + 2, ' ');
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += '\n';
    if (end > at) {
      out += blanks;
      out += text.substr(at, end - at);
    }
    at = end + 1;
  }
  return out;
}

bool IsEmptyContainer(const ConfigNode& node) {
  return node.is_object() && node.items.empty() && node.members.empty();
}

// The lines of a container, each with a line break in front.
std::string BlockLines(const ConfigNode& node, std::size_t indent) {
  const std::string blanks(indent, ' ');
  std::string out;
  for (const auto& [key, value] : node.members) {
    out += "\n" + blanks + YamlScalar(key, false, indent) + ":" + YamlAfterKey(value, indent);
  }
  for (const ConfigNode& item : node.items) {
    if (item.is_object() && !IsEmptyContainer(item)) {
      // The first member of a container stands on the line of the dash.
      out += "\n" + blanks + "- " + BlockLines(item, indent + 2).substr(1 + indent + 2);
    } else if (item.kind == ConfigNode::Kind::kSecure) {
      out += "\n" + blanks + "- secure: " + YamlScalar(item.text, false, indent + 2);
    } else {
      out += "\n" + blanks + "-" + YamlAfterKey(item, indent);
    }
  }
  return out;
}

}  // namespace

std::string YamlScalar(std::string_view text, bool in_flow, std::size_t indent) {
  if (text.empty()) {
    return "\"\"";
  }
  if (HasControls(text) || !IsUtf8(text)) {
    return DoubleQuoted(text);
  }
  if (text.find('\n') != std::string_view::npos) {
    const bool blank_before_break = text.find(" \n") != std::string_view::npos;
    return in_flow || blank_before_break ? DoubleQuoted(text) : Literal(text, indent);
  }
  if (FitsPlain(text, in_flow)) {
    return ReadsAsOther(text) ? DoubleQuoted(text) : std::string(text);
  }
  return SingleQuoted(text);
}

std::string YamlFlow(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      return "null";
    case ConfigNode::Kind::kBool:
    case ConfigNode::Kind::kInteger:
    case ConfigNode::Kind::kFloat:
      return node.text;
    case ConfigNode::Kind::kText:
      return YamlScalar(node.text, true, 0);
    case ConfigNode::Kind::kSecure:
      return "{secure: " + YamlScalar(node.text, true, 0) + "}";
    case ConfigNode::Kind::kList: {
      std::string out;
      for (const ConfigNode& item : node.items) {
        out += (out.empty() ? "" : ", ") + YamlFlow(item);
      }
      return "[" + out + "]";
    }
    case ConfigNode::Kind::kMap: {
      std::string out;
      for (const auto& [key, value] : node.members) {
        out += (out.empty() ? "" : ", ") + YamlScalar(key, true, 0) + ": " + YamlFlow(value);
      }
      return "{" + out + "}";
    }
  }
  return {};
}

std::string YamlAfterKey(const ConfigNode& node, std::size_t indent) {
  if (node.kind == ConfigNode::Kind::kText) {
    return " " + YamlScalar(node.text, false, indent);
  }
  if (node.kind == ConfigNode::Kind::kSecure) {
    return "\n" + std::string(indent + 2, ' ') +
           "secure: " + YamlScalar(node.text, false, indent + 2);
  }
  if (node.is_object() && !IsEmptyContainer(node)) {
    return BlockLines(node, indent + 2);
  }
  return " " + YamlFlow(node);
}

}  // namespace davit
