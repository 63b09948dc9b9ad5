#pragma once
// What a YAML scalar stands for (Y9-Y13). Pure, any thread.

#include <string>
#include <string_view>

#include "engine/yaml/document.h"

namespace davit {

/// Fills kind and value of `node`. `tag` is the explicit tag or empty; unknown tags count as none.
/// False when a core tag does not fit.
bool ResolveScalar(std::string text, std::string_view tag, bool is_plain, YamlNode* node);

/// Whether plain text is a number only because a leading zero was no octal form: `08` (Y10).
bool IsLeadingZeroDecimal(std::string_view text);

/// Whether an exact integer changes when it becomes a double (Y12).
bool IsLossyInteger(const YamlNode& node);

/// The integer in YAML's forms (sign, 0x, 0o, 0b, leading zero, underscores); false when it is none
/// that fits 64 bits. `digits` gets its decimal digits.
bool ParseYamlInteger(std::string_view text, std::string* digits, double* number);

}  // namespace davit
