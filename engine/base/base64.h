#pragma once
// Base64 with the standard alphabet and padding (P55, S54, S63).

#include <optional>
#include <string>
#include <string_view>

namespace davit {

std::string EncodeBase64(std::string_view bytes);
/// CR and LF are skipped and non-zero trailing bits accepted (S63); URL-safe or unpadded text is
/// refused.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace davit
