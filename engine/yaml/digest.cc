#include "engine/yaml/digest.h"

#include <array>
#include <bit>
#include <cstdint>

namespace davit {
namespace {

// The text with a one bit, zeros and its length in bits, so that it fills blocks of 64 bytes.
std::string Padded(std::string_view bytes) {
  std::string padded(bytes);
  padded += static_cast<char>(0x80);
  padded.append((120 - padded.size() % 64) % 64, '\0');
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded += static_cast<char>((bits >> shift) & 0xFFU);
  }
  return padded;
}

std::uint32_t BigEndian(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t index = 0; index < 4; ++index) {
    word = (word << 8U) | static_cast<unsigned char>(bytes[at + index]);
  }
  return word;
}

template <std::size_t kWords>
std::string Bytes(const std::array<std::uint32_t, kWords>& words) {
  std::string bytes;
  for (const std::uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes += static_cast<char>((word >> shift) & 0xFFU);
    }
  }
  return bytes;
}

// The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4).
constexpr std::array<std::uint32_t, 64> kRoots = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

std::string Sha1(std::string_view bytes) {
  std::array<std::uint32_t, 5> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string padded = Padded(bytes);
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    std::array<std::uint32_t, 80> words{};
    for (std::size_t index = 0; index < 80; ++index) {
      words[index] =
          index < 16
              ? BigEndian(padded, block + index * 4)
              : std::rotl(
                    words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1);
    }
    auto [a, b, c, d, e] = state;
    for (std::size_t index = 0; index < 80; ++index) {
      const std::uint32_t mixed = index < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                                  : index < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                                  : index < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                               : (b ^ c ^ d) + 0xca62c1d6;
      const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[index];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
  }
  return Bytes(state);
}

std::string Sha256(std::string_view bytes) {
  std::array<std::uint32_t, 8> state = {0x6a09e667,
                                        0xbb67ae85,
                                        0x3c6ef372,
                                        0xa54ff53a,
                                        0x510e527f,
                                        0x9b05688c,
                                        0x1f83d9ab,
                                        0x5be0cd19};
  const std::string padded = Padded(bytes);
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t index = 0; index < 64; ++index) {
      if (index < 16) {
        words[index] = BigEndian(padded, block + index * 4);
        continue;
      }
      const std::uint32_t near = words[index - 2];
      const std::uint32_t far = words[index - 15];
      words[index] = words[index - 16] + words[index - 7] +
                     (std::rotr(far, 7) ^ std::rotr(far, 18) ^ (far >> 3U)) +
                     (std::rotr(near, 17) ^ std::rotr(near, 19) ^ (near >> 10U));
    }
    std::array<std::uint32_t, 8> s = state;
    for (std::size_t index = 0; index < 64; ++index) {
      const std::uint32_t first = s[7] +
                                  (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                                  ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRoots[index] + words[index];
      const std::uint32_t second =
          (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
          ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t index = 0; index < 8; ++index) {
      state[index] += s[index];
    }
  }
  return Bytes(state);
}

std::string HexText(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

}  // namespace davit
