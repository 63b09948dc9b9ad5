#include "engine/base/digest.h"

#include <openssl/evp.h>

#include <array>

#include "engine/base/check.h"

namespace davit {
namespace {

std::string Digest(std::string_view bytes, const EVP_MD* kind) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, kind, nullptr);
  DAVIT_CHECK(done == 1, "the digest of OpenSSL failed");
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

std::string Sha1(std::string_view bytes) {
  return Digest(bytes, EVP_sha1());
}

std::string Sha256(std::string_view bytes) {
  return Digest(bytes, EVP_sha256());
}

std::string HexText(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    hex += kDigits[value >> 4U];
    hex += kDigits[value & 15U];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  return HexText(Sha256(bytes));
}

}  // namespace davit
