#include "engine/yaml/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace davit {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) {
    std::swap(a, b);
  }
  if (b.size() - a.size() > limit) {
    return limit + 1;
  }
  std::vector<std::size_t> row(a.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = i;
  }
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t diagonal = row[0];
    row[0] = j;
    std::size_t best = row[0];
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({replaced, row[i] + 1, row[i - 1] + 1});
      best = std::min(best, row[i]);
    }
    if (best > limit) {
      return limit + 1;
    }
  }
  return row.back();
}

std::vector<std::string> Nearest(std::string_view name,
                                 std::vector<std::string> names,
                                 std::size_t limit) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& candidate : names) {
    const std::size_t distance = EditDistance(name, candidate, limit);
    if (distance <= limit) {
      ranked.emplace_back(distance, std::move(candidate));
    }
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> found;
  found.reserve(ranked.size());
  for (auto& [distance, candidate] : ranked) {
    found.push_back(std::move(candidate));
  }
  return found;
}

std::string DidYouMean(std::string_view name,
                       const std::vector<std::string>& names,
                       std::size_t limit) {
  const std::vector<std::string> found = Nearest(name, names, limit);
  // Two letters are near to everything: a suggestion must share more than it changes.
  if (found.empty() ||
      EditDistance(name, found[0], limit) * 2 > std::max<std::size_t>(name.size(), 2)) {
    return {};
  }
  return fmt::format("did you mean '{}'?", found[0]);
}

std::string ExistingNames(std::string_view name, std::vector<std::string> names) {
  if (names.empty()) {
    return {};
  }
  constexpr std::size_t kShown = 5;
  constexpr std::size_t kFar = 1000;
  const std::vector<std::string> sorted = Nearest(name, std::move(names), kFar);
  std::string text = "existing: ";
  for (std::size_t i = 0; i < sorted.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + sorted[i];
  }
  if (sorted.size() > kShown) {
    text += fmt::format(" and {} more", sorted.size() - kShown);
  }
  return text;
}

}  // namespace davit
