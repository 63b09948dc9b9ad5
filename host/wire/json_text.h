#pragma once
// JSON string literals as P120 writes them. Any thread.

#include <string>
#include <string_view>

namespace davit {

/// Appends `text` in quotes; `<`, `>`, `&` and control characters are escaped, bytes that are not
/// UTF-8 become U+FFFD.
void AppendJsonText(std::string_view text, std::string* out);

}  // namespace davit
