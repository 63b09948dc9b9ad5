#pragma once
// Strings that hold JSON or YAML, decoded for display (C112). Pure.

#include <optional>
#include <string>

#include "engine/value/property_value.h"

namespace davit {

struct DecodedText {
  std::string format;  ///< `json` or `yaml`
  PropertyValue value;
};

/// The value of a text that is a JSON object or array, or a YAML map or list over several lines;
/// absent for other texts.
std::optional<DecodedText> DecodeText(const std::string& text);

}  // namespace davit
