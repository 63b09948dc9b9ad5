#include "engine/base/semver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace davit {
namespace {

bool IsNumeric(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
  });
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + separator.size());
  }
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

bool ParseNumber(std::string_view text, bool allow_leading_zero, unsigned long* number) {
  if (!IsNumeric(text) || (!allow_leading_zero && text.size() > 1 && text.front() == '0')) {
    return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Semver> Parse(std::string_view text, bool is_tolerant) {
  Semver version;
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    version.build = text.substr(plus + 1);
    if (!std::ranges::all_of(Split(version.build, "."), IsIdentifier)) {
      return std::nullopt;
    }
    text = text.substr(0, plus);
  }
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    for (const std::string_view part : Split(text.substr(dash + 1), ".")) {
      if (!IsIdentifier(part) || (IsNumeric(part) && part.size() > 1 && part.front() == '0')) {
        return std::nullopt;
      }
      version.prerelease.emplace_back(part);
    }
    text = text.substr(0, dash);
  }
  const std::vector<std::string_view> numbers = Split(text, ".");
  if (numbers.size() > 3 || (!is_tolerant && numbers.size() != 3)) {
    return std::nullopt;
  }
  unsigned long* const targets[] = {&version.major, &version.minor, &version.patch};
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (!ParseNumber(numbers[index], is_tolerant, targets[index])) {
      return std::nullopt;
    }
  }
  return version;
}

std::weak_ordering ComparePrerelease(const std::string& a, const std::string& b) {
  const bool a_is_number = IsNumeric(a);
  const bool b_is_number = IsNumeric(b);
  if (a_is_number && b_is_number) {
    return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;  // no leading zeros
  }
  if (a_is_number != b_is_number) {
    return a_is_number ? std::weak_ordering::less : std::weak_ordering::greater;
  }
  return a <=> b;
}

// --- ranges

enum class Comparison { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

std::optional<Comparison> ParseComparison(std::string_view text) {
  if (text.empty() || text == "=" || text == "==") {
    return Comparison::kEqual;
  }
  if (text == "!" || text == "!=") {
    return Comparison::kNotEqual;
  }
  if (text == "<") {
    return Comparison::kLess;
  }
  if (text == "<=") {
    return Comparison::kLessOrEqual;
  }
  if (text == ">") {
    return Comparison::kGreater;
  }
  if (text == ">=") {
    return Comparison::kGreaterOrEqual;
  }
  return std::nullopt;
}

bool Holds(const Semver& version, Comparison comparison, const Semver& bound) {
  const std::weak_ordering order = version <=> bound;
  switch (comparison) {
    case Comparison::kEqual:
      return order == 0;
    case Comparison::kNotEqual:
      return order != 0;
    case Comparison::kLess:
      return order < 0;
    case Comparison::kLessOrEqual:
      return order <= 0;
    case Comparison::kGreater:
      return order > 0;
    case Comparison::kGreaterOrEqual:
      return order >= 0;
  }
  return false;
}

bool IsWildcard(std::string_view part) {
  return part == "x" || part == "X" || part == "*";
}

// `1.x` stands for all versions from 1.0.0 up to, not including, 2.0.0; the bounds are those two.
struct Bounds {
  Semver low;
  std::optional<Semver> high;  ///< absent: exact, or everything when the major number is a wildcard
  bool is_everything = false;
};

std::optional<Bounds> ParseBounds(std::string_view text) {
  Bounds bounds;
  std::vector<std::string_view> parts = Split(text, ".");
  const auto wildcard = std::ranges::find_if(parts, IsWildcard);
  if (wildcard == parts.end()) {
    const std::optional<Semver> exact = Semver::ParseTolerant(text);
    if (!exact) {
      return std::nullopt;
    }
    bounds.low = *exact;
    return bounds;
  }
  const auto known = wildcard - parts.begin();
  if (parts.size() > 3 || !std::all_of(wildcard, parts.end(), IsWildcard)) {
    return std::nullopt;
  }
  if (known == 0) {
    bounds.is_everything = true;
    return bounds;
  }
  if (!ParseNumber(parts[0], false, &bounds.low.major) ||
      (known == 2 && !ParseNumber(parts[1], false, &bounds.low.minor))) {
    return std::nullopt;
  }
  bounds.high = bounds.low;
  if (known == 1) {
    ++bounds.high->major;
  } else {
    ++bounds.high->minor;
  }
  return bounds;
}

bool HoldsForBounds(const Semver& version, Comparison comparison, const Bounds& bounds) {
  if (bounds.is_everything) {
    return comparison == Comparison::kEqual || comparison == Comparison::kLessOrEqual ||
           comparison == Comparison::kGreaterOrEqual;
  }
  if (!bounds.high) {
    return Holds(version, comparison, bounds.low);
  }
  switch (comparison) {
    case Comparison::kEqual:
      return version >= bounds.low && version < *bounds.high;
    case Comparison::kNotEqual:
      return version < bounds.low || version >= *bounds.high;
    case Comparison::kLess:
      return version < bounds.low;
    case Comparison::kLessOrEqual:
      return version < *bounds.high;
    case Comparison::kGreater:
      return version >= *bounds.high;
    case Comparison::kGreaterOrEqual:
      return version >= bounds.low;
  }
  return false;
}

// One alternative: comparisons that must all hold. An operator may be apart from its version.
Result<bool> IsInConjunction(const Semver& version, std::string_view text) {
  bool holds = true;
  text = Trim(text);
  if (text.empty()) {
    return Fail(ErrorKind::kInvalid, "the version range is empty");
  }
  while (!text.empty()) {
    const std::size_t operator_end = text.find_first_not_of("<>=!");
    const std::string_view operator_text = text.substr(0, operator_end);
    std::string_view rest =
        operator_end == std::string_view::npos ? std::string_view() : text.substr(operator_end);
    rest = Trim(rest);
    const std::size_t end = rest.find_first_of(" \t<>=!");
    const std::string_view bound_text = rest.substr(0, end);
    const std::optional<Comparison> comparison = ParseComparison(operator_text);
    const std::optional<Bounds> bounds = ParseBounds(bound_text);
    if (!comparison || !bounds) {
      return Fail(
          ErrorKind::kInvalid,
          fmt::format("cannot read '{}{}' in the version range", operator_text, bound_text));
    }
    holds = holds && HoldsForBounds(version, *comparison, *bounds);
    text = end == std::string_view::npos ? std::string_view() : Trim(rest.substr(end));
  }
  return holds;
}

}  // namespace

std::optional<Semver> Semver::ParseStrict(std::string_view text) {
  return Parse(text, false);
}

std::optional<Semver> Semver::ParseTolerant(std::string_view text) {
  text = Trim(text);
  if (!text.empty() && text.front() == 'v') {
    text.remove_prefix(1);
  }
  return Parse(text, true);
}

std::string Semver::Text() const {
  std::string text = fmt::format("{}.{}.{}", major, minor, patch);
  for (std::size_t index = 0; index < prerelease.size(); ++index) {
    text += (index == 0 ? "-" : ".") + prerelease[index];
  }
  return build.empty() ? text : text + "+" + build;
}

std::weak_ordering operator<=>(const Semver& a, const Semver& b) {
  if (const auto order = a.major <=> b.major; order != 0) {
    return order;
  }
  if (const auto order = a.minor <=> b.minor; order != 0) {
    return order;
  }
  if (const auto order = a.patch <=> b.patch; order != 0) {
    return order;
  }
  if (a.prerelease.empty() != b.prerelease.empty()) {
    return a.prerelease.empty() ? std::weak_ordering::greater : std::weak_ordering::less;
  }
  const std::size_t common = std::min(a.prerelease.size(), b.prerelease.size());
  for (std::size_t index = 0; index < common; ++index) {
    if (const auto order = ComparePrerelease(a.prerelease[index], b.prerelease[index]);
        order != 0) {
      return order;
    }
  }
  return a.prerelease.size() <=> b.prerelease.size();
}

Result<bool> IsInRange(const Semver& version, std::string_view range) {
  bool holds = false;
  for (const std::string_view alternative : Split(range, "||")) {
    DAVIT_TRY(const bool is_in, IsInConjunction(version, alternative));
    holds = holds || is_in;
  }
  return holds;
}

}  // namespace davit
