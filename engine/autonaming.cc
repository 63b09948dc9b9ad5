#include "engine/autonaming.h"

#include <charconv>
#include <string_view>

#include "engine/base/digest.h"
#include "engine/base/tokens.h"
#include "engine/model/urn.h"

namespace davit {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr int kLongestPart = 1024;

// A stream of bytes out of a seed: digests of the seed and a counter.
class SeededBytes {
 public:
  explicit SeededBytes(std::string seed) : seed_(std::move(seed)) {}

  std::string Text(std::string_view alphabet, int count) {
    std::string text;
    // Bytes beyond the last whole multiple of the alphabet would favour its first characters.
    const std::size_t limit = 256 - 256 % alphabet.size();
    while (text.size() < static_cast<std::size_t>(count)) {
      const std::size_t byte = Next();
      if (byte < limit) {
        text += alphabet[byte % alphabet.size()];
      }
    }
    return text;
  }

 private:
  unsigned char Next() {
    if (at_ == block_.size()) {
      block_ = Sha256(seed_ + std::to_string(counter_++));
      at_ = 0;
    }
    return static_cast<unsigned char>(block_[at_++]);
  }

  std::string seed_;
  std::string block_;
  std::size_t at_ = 0;
  std::uint64_t counter_ = 0;
};

// `hex(8)` -> 8 for the word `hex`.
std::optional<int> CountOf(std::string_view token, std::string_view word) {
  if (!token.starts_with(word) || !token.ends_with(')') || token.size() < word.size() + 3 ||
      token[word.size()] != '(') {
    return std::nullopt;
  }
  const std::string_view digits = token.substr(word.size() + 1, token.size() - word.size() - 2);
  int count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 1 ||
      count > kLongestPart) {
    return std::nullopt;
  }
  return count;
}

std::string UuidOf(const std::string& seed) {
  SeededBytes bytes(seed + "uuid");
  std::string text = bytes.Text(kHexDigits, 32);
  text[12] = '4';
  text[16] = bytes.Text("89ab", 1)[0];
  for (const std::size_t at : {20UL, 16UL, 12UL, 8UL}) {
    text.insert(at, "-");
  }
  return text;
}

// What a token stands for; absent when it is none.
std::optional<std::string> Expand(std::string_view token,
                                  std::string_view name,
                                  const std::string& seed,
                                  SeededBytes& bytes,
                                  bool* is_random) {
  if (token == "name") {
    return std::string(name);
  }
  if (token == "uuid") {
    *is_random = true;
    return UuidOf(seed);
  }
  static const std::map<std::string_view, std::string_view> kAlphabets = {
      {"hex", kHexDigits}, {"alphanum", kLettersAndDigits}, {"string", kLetters}, {"num", kDigits}};
  for (const auto& [word, alphabet] : kAlphabets) {
    if (const std::optional<int> count = CountOf(token, word)) {
      *is_random = true;
      return bytes.Text(alphabet, *count);
    }
  }
  return std::nullopt;
}

std::string FromPattern(const std::string& pattern,
                        std::string_view name,
                        const std::string& seed,
                        bool* is_random) {
  SeededBytes bytes(seed);
  return ReplaceTokens(pattern, [&](const std::string& token) {
    return Expand(token, name, seed, bytes, is_random);
  });
}

}  // namespace

const NamingStrategy& Autonaming::For(std::string_view type, bool* is_specific) const {
  *is_specific = true;
  if (const auto of_type = types.find(type); of_type != types.end()) {
    return of_type->second;
  }
  if (const auto of_package = packages.find(PackageOf(type)); of_package != packages.end()) {
    return of_package->second;
  }
  *is_specific = false;
  return everywhere;
}

NamingOutcome NameFor(const NamingStrategy& strategy,
                      std::string_view name,
                      const std::string& seed) {
  NamingOutcome outcome;
  using Mode = AutonamingOptions::Mode;
  switch (strategy.kind) {
    case NamingStrategy::Kind::kDefault:
      break;
    case NamingStrategy::Kind::kVerbatim:
      outcome.options = AutonamingOptions{std::string(name), Mode::kEnforce};
      outcome.deletes_first = true;
      break;
    case NamingStrategy::Kind::kDisabled:
      outcome.options = AutonamingOptions{"", Mode::kDisable};
      outcome.deletes_first = true;
      break;
    case NamingStrategy::Kind::kPattern: {
      bool is_random = false;
      std::string text = FromPattern(strategy.pattern, name, seed, &is_random);
      outcome.options =
          AutonamingOptions{std::move(text), strategy.enforce ? Mode::kEnforce : Mode::kPropose};
      outcome.deletes_first = !is_random;
      break;
    }
  }
  return outcome;
}

}  // namespace davit
