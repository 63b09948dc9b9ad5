#pragma once
// Digests of bytes, by OpenSSL. Pure, any thread.

#include <string>
#include <string_view>

namespace davit {

/// The 20 bytes of the SHA-1 digest (fn::sha1, S154).
std::string Sha1(std::string_view bytes);

/// The 32 bytes of the SHA-256 digest.
std::string Sha256(std::string_view bytes);

/// Bytes as lower-case hexadecimal digits.
std::string HexText(std::string_view bytes);

/// The SHA-256 digest as lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace davit
