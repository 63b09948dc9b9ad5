#pragma once
// Colours of terminal output (C3, C91). Values, any thread.

#include <string>
#include <string_view>

namespace davit {

enum class ColorMode { kNever, kAlways, kRaw };

class Style {
 public:
  explicit Style(ColorMode mode = ColorMode::kNever) : mode_(mode) {}
  /// Colour of the 256-colour palette, or the same as a tag (`--color=raw`).
  std::string Fg(int color, std::string_view text) const;
  std::string BoldFg(int color, std::string_view text) const;
  std::string UnderlinedFg(int color, std::string_view text) const;
  ColorMode mode() const { return mode_; }

 private:
  ColorMode mode_;
};

// C91
inline constexpr int kHeadlineColor = 13;
inline constexpr int kColumnColor = 12;
inline constexpr int kPromptColor = 6;
inline constexpr int kWarningColor = 3;
inline constexpr int kErrorColor = 1;

/// Removes colour tags (`<{%...%}>`) and terminal escapes (C138).
std::string WithoutColors(std::string_view text);
/// Columns that the text takes on a terminal: two for wide characters, none for escapes and marks
/// that join the character before.
std::size_t DisplayWidth(std::string_view text);
/// The text cut to `width` columns; escapes are kept and reset.
std::string CutToWidth(std::string_view text, std::size_t width);

}  // namespace davit
