#pragma once
// The digests that the functions of the language name (Y110). Pure, any thread.

#include <string>
#include <string_view>

namespace davit {

/// The 20 bytes of the SHA-1 digest (fn::sha1).
std::string Sha1(std::string_view bytes);

/// The 32 bytes of the SHA-256 digest (fn::filebase64sha256).
std::string Sha256(std::string_view bytes);

/// Bytes as lower-case hexadecimal digits.
std::string HexText(std::string_view bytes);

}  // namespace davit
