#pragma once
// What readers see as one character (fn::length and fn::split, Y110). Pure, any thread.

#include <cstddef>
#include <string_view>

namespace davit {

/// The number of grapheme clusters of a UTF-8 text: base characters with their marks, flags, emoji
/// joined by ZWJ, Hangul syllables and CR LF count one each. A byte that is no UTF-8 counts one.
std::size_t GraphemeCount(std::string_view text);

}  // namespace davit
