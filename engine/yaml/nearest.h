#pragma once
// Names that are nearly right: in another case (Y18), or misspelt (Y156). Pure, any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace davit {

/// Whether two names differ in nothing but the case of ASCII letters.
bool SameIgnoringCase(std::string_view a, std::string_view b);

/// Levenshtein distance in bytes; gives up with `limit + 1` as soon as it is larger than `limit`.
std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit);

/// `names` by distance to `name`, ties alphabetical, those farther than `limit` left out.
std::vector<std::string> Nearest(std::string_view name,
                                 std::vector<std::string> names,
                                 std::size_t limit);

/// `did you mean 'a'?` for the nearest name within `limit`, or empty.
std::string DidYouMean(std::string_view name,
                       const std::vector<std::string>& names,
                       std::size_t limit = 3);

/// `existing: a, b, c, d, e and 3 more`, nearest first (Y153); empty when there are none.
std::string ExistingNames(std::string_view name, std::vector<std::string> names);

}  // namespace davit
