#pragma once
// Text with `${...}` in it. Pure, any thread.

#include <functional>
#include <optional>
#include <string>

namespace davit {

/// Replaces each `${TOKEN}` for which `value` has an answer; everything else stays as it is.
inline std::string ReplaceTokens(
    const std::string& text,
    const std::function<std::optional<std::string>(const std::string& token)>& value) {
  std::string replaced;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.compare(at, 2, "${") == 0 ? text.find('}', at) : std::string::npos;
    std::optional<std::string> part;
    if (end != std::string::npos) {
      part = value(text.substr(at + 2, end - at - 2));
    }
    replaced += part ? *part : text.substr(at, 1);
    at = part ? end + 1 : at + 1;
  }
  return replaced;
}

}  // namespace davit
