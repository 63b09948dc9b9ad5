#pragma once
// Semantic versions as plugins use them: strict, tolerant (P3), precedence, and ranges in blang
// syntax (P101).

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace davit {

struct Semver {
  unsigned long major = 0;
  unsigned long minor = 0;
  unsigned long patch = 0;
  std::vector<std::string> prerelease;
  std::string build;

  /// `1.2.3-pre.1+build` and nothing else.
  static std::optional<Semver> ParseStrict(std::string_view text);
  /// Also a leading `v`, white space around it, and missing minor or patch numbers.
  static std::optional<Semver> ParseTolerant(std::string_view text);
  std::string Text() const;
  bool is_prerelease() const { return !prerelease.empty(); }

  /// Precedence; build metadata does not count.
  friend std::weak_ordering operator<=>(const Semver& a, const Semver& b);
  friend bool operator==(const Semver& a, const Semver& b) { return (a <=> b) == 0; }
};

/// The level of the reference engine that davit claims compatibility with (P101, Y22).
inline constexpr const char* kCompatibleVersion = "3.274.1";

/// Whether `version` is in `range`: comparisons (`>=1.2.0`, `<2`, `=`, `!`, bare), space = and,
/// `||` = or, `x` wildcards. An error names the part that cannot be read.
Result<bool> IsInRange(const Semver& version, std::string_view range);

}  // namespace davit
