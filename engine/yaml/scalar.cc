#include "engine/yaml/scalar.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

namespace davit {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

bool OneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (text == word) {
      return true;
    }
  }
  return false;
}

bool IsNull(std::string_view text) {
  return OneOf(text, {"", "~", "null", "Null", "NULL"});
}

bool ParseBool(std::string_view text, bool* value) {
  *value = OneOf(text, {"true", "True", "TRUE"});
  return *value || OneOf(text, {"false", "False", "FALSE"});
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != '_') {
      out += c;
    }
  }
  return out;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Digits with optional fraction and exponent, as the reference's reader takes floats.
bool LooksLikeFloat(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && IsDigit(text[at])) {
      ++at;
    }
    return at > begin;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    ++at;
  }
  const bool whole = digits();
  bool fraction = false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (!whole && !fraction) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
      ++at;
    }
    if (!digits()) {
      return false;
    }
  }
  return at == text.size();
}

bool ParseFloat(std::string_view text, double* number) {
  if (OneOf(text, {".nan", ".NaN", ".NAN"})) {
    *number = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  std::string_view body = text;
  const bool is_negative = body.starts_with('-');
  if (is_negative || body.starts_with('+')) {
    body.remove_prefix(1);
  }
  if (OneOf(body, {".inf", ".Inf", ".INF"})) {
    *number = std::numeric_limits<double>::infinity() * (is_negative ? -1 : 1);
    return true;
  }
  if (text.empty() || (!IsDigit(text[0]) && !OneOf(text.substr(0, 1), {"+", "-", "."}))) {
    return false;
  }
  const std::string clean = WithoutUnderscores(text);
  if (!LooksLikeFloat(clean)) {
    return false;
  }
  *number = std::strtod(clean.c_str(), nullptr);
  return true;
}

bool ParseNumber(std::string_view text, YamlNode* node) {
  if (ParseYamlInteger(text, &node->text, &node->number) || ParseFloat(text, &node->number)) {
    node->kind = YamlNode::Kind::kNumber;
    return true;
  }
  return false;
}

void SetString(std::string text, YamlNode* node) {
  node->kind = YamlNode::Kind::kString;
  node->text = std::move(text);
}

void ResolvePlain(std::string text, YamlNode* node) {
  if (IsNull(text)) {
    node->kind = YamlNode::Kind::kNull;
  } else if (ParseBool(text, &node->boolean)) {
    node->kind = YamlNode::Kind::kBool;
  } else if (!ParseNumber(text, node)) {
    SetString(std::move(text), node);
  }
}

}  // namespace

bool ParseYamlInteger(std::string_view text, std::string* digits, double* number) {
  if (text.empty() || (!IsDigit(text[0]) && text[0] != '+' && text[0] != '-')) {
    return false;
  }
  const std::string clean = WithoutUnderscores(text);
  std::string_view body = clean;
  const bool is_negative = body.starts_with('-');
  if (is_negative || body.starts_with('+')) {
    body.remove_prefix(1);
  }
  int base = 10;
  if (body.size() > 1 && body[0] == '0') {
    switch (body[1]) {
      case 'x':
      case 'X':
        base = 16;
        break;
      case 'o':
      case 'O':
        base = 8;
        break;
      case 'b':
      case 'B':
        base = 2;
        break;
      default:
        break;
    }
    if (base == 10) {
      base = 8;
      body.remove_prefix(1);
    } else {
      body.remove_prefix(2);
    }
  }
  std::uint64_t magnitude = 0;
  const auto [end, code] = std::from_chars(body.data(), body.data() + body.size(), magnitude, base);
  if (body.empty() || code != std::errc() || end != body.data() + body.size()) {
    return false;
  }
  constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63;
  if (is_negative && magnitude > kMinMagnitude) {
    return false;
  }
  const bool is_minus = is_negative && magnitude != 0;
  *digits = fmt::format("{}{}", is_minus ? "-" : "", magnitude);
  *number = static_cast<double>(magnitude) * (is_minus ? -1 : 1);
  return true;
}

bool ResolveScalar(std::string text, std::string_view tag, bool is_plain, YamlNode* node) {
  if (tag == "!" || (tag.empty() && !is_plain)) {
    SetString(std::move(text), node);
    return true;
  }
  if (!tag.starts_with(kTagPrefix)) {
    if (is_plain) {
      ResolvePlain(std::move(text), node);
    } else {
      SetString(std::move(text), node);
    }
    return true;
  }
  const std::string_view name = tag.substr(kTagPrefix.size());
  if (OneOf(name, {"str", "binary", "timestamp"})) {
    SetString(std::move(text), node);
    return true;
  }
  if (name == "null") {
    node->kind = YamlNode::Kind::kNull;
    return IsNull(text);
  }
  if (name == "bool") {
    node->kind = YamlNode::Kind::kBool;
    return ParseBool(text, &node->boolean);
  }
  if (name == "int") {
    node->kind = YamlNode::Kind::kNumber;
    return ParseYamlInteger(text, &node->text, &node->number);
  }
  if (name == "float") {
    return ParseNumber(text, node);
  }
  // A collection's tag on a scalar does not fit; any other name is not one of the core.
  if (OneOf(name, {"seq", "map", "set", "omap"})) {
    return false;
  }
  if (is_plain) {
    ResolvePlain(std::move(text), node);
  } else {
    SetString(std::move(text), node);
  }
  return true;
}

bool IsLeadingZeroDecimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  bool beyond_octal = false;
  for (char c : text) {
    if (!IsDigit(c) && c != '_') {
      return false;
    }
    beyond_octal = beyond_octal || c == '8' || c == '9';
  }
  return text.size() > 1 && text[0] == '0' && beyond_octal;
}

bool IsLossyInteger(const YamlNode& node) {
  return fmt::format("{:.0f}", node.number) != node.text;
}

}  // namespace davit
