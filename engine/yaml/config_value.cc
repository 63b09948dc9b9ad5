// Configuration texts as values (Y33, Y34).
#include <charconv>
#include <cmath>

#include "engine/yaml/evaluation.h"

namespace davit {
namespace {

std::optional<double> WholeNumber(const std::string& text) {
  long long integer = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto parsed = std::from_chars(begin, text.data() + text.size(), integer);
  const bool good =
      parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && begin != parsed.ptr;
  return good ? std::optional<double>(static_cast<double>(integer)) : std::nullopt;
}

std::optional<double> AnyNumber(const std::string& text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good =
      parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && std::isfinite(number);
  return good ? std::optional<double>(number) : std::nullopt;
}

PropertyValue Inferred(const std::string& text) {
  if (text.size() > 1 && text[0] == '0' && text[1] != '.') {
    return text;
  }
  if (const std::optional<double> whole = WholeNumber(text)) {
    return *whole;
  }
  if (text == "true" || text == "false") {
    return text == "true";
  }
  const std::unique_ptr<YamlNode> json = ParseJson(text);
  const PropertyValue value = json ? ToPropertyValue(*json) : PropertyValue(text);
  return value.kind() == ValueKind::kNumber ? PropertyValue(text) : value;  // B129: not cut off
}

}  // namespace

std::optional<PropertyValue> ConfigValueOf(const std::string& text, const std::string& type) {
  if (type.empty()) {
    return Inferred(text);
  }
  if (type == "string") {
    return PropertyValue(text);
  }
  if (type == "boolean") {
    return text == "true" || text == "false" ? std::optional<PropertyValue>(text == "true")
                                             : std::nullopt;
  }
  if (type == "integer" || type == "number") {
    std::optional<double> number = WholeNumber(text);
    if (!number) {
      number = AnyNumber(text);
    }
    const bool fits = number && (type == "number" || *number == std::trunc(*number));
    return fits ? std::optional<PropertyValue>(*number) : std::nullopt;
  }
  const std::unique_ptr<YamlNode> json = ParseJson(text);
  if (!json || (type == "object" ? !json->is_map() : !json->is_list())) {
    return std::nullopt;
  }
  return ToPropertyValue(*json);
}

}  // namespace davit
