#include "engine/base/base64.h"

#include <array>
#include <cstdint>

namespace davit {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int ValueOf(char c) {
  const std::size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      group = group << 8 | (index < count ? static_cast<unsigned char>(bytes[at + index]) : 0U);
    }
    for (std::size_t index = 0; index < 4; ++index) {
      text += index <= count ? kAlphabet[group >> (18 - 6 * index) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  std::array<int, 4> group{};
  std::size_t filled = 0;
  bool ended = false;
  for (const char c : text) {
    if (c == '\r' || c == '\n') {
      continue;
    }
    if (ended) {
      return std::nullopt;
    }
    group[filled++] = c == '=' ? -2 : ValueOf(c);
    if (group[filled - 1] == -1) {
      return std::nullopt;
    }
    if (filled < 4) {
      continue;
    }
    filled = 0;
    if (group[0] < 0 || group[1] < 0 || (group[2] == -2 && group[3] != -2)) {
      return std::nullopt;
    }
    ended = group[3] == -2;
    std::uint32_t bits = 0;
    for (const int value : group) {
      bits = bits << 6 | static_cast<std::uint32_t>(value < 0 ? 0 : value);
    }
    const int count = group[2] == -2 ? 1 : (group[3] == -2 ? 2 : 3);
    for (int index = 0; index < count; ++index) {
      bytes += static_cast<char>(bits >> (16 - 8 * index) & 0xFFU);
    }
  }
  return filled == 0 ? std::optional<std::string>(std::move(bytes)) : std::nullopt;
}

}  // namespace davit
