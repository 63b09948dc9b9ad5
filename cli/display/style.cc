#include "cli/display/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace davit {
namespace {

// Length of the escape sequence at `at`, 0 when there is none.
std::size_t EscapeLength(std::string_view text, std::size_t at) {
  if (text[at] != '\x1B') {
    return 0;
  }
  if (at + 1 >= text.size() || text[at + 1] != '[') {
    return 1;
  }
  std::size_t end = at + 2;
  while (end < text.size() && (text[end] < '@' || text[end] > '~')) {
    ++end;
  }
  return std::min(end + 1, text.size()) - at;
}

// One character, as a terminal shows it.
struct Glyph {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

// The C library knows which characters take two columns, and which none. It asks the thread's
// locale, which is none of ours otherwise.
std::size_t ColumnsOf(wchar_t character) {
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) {
    return 1;
  }
  const locale_t before = ::uselocale(utf8);
  const int columns = ::wcwidth(character);
  ::uselocale(before);
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

Glyph GlyphAt(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  Glyph glyph;
  if (lead < 0xC0) {
    return glyph;
  }
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned code = lead & (0xFFU >> (length + 1));
  while (glyph.bytes < length && at + glyph.bytes < text.size()) {
    const auto next = static_cast<unsigned char>(text[at + glyph.bytes]);
    if ((next & 0xC0U) != 0x80U) {
      break;
    }
    code = code << 6U | (next & 0x3FU);
    ++glyph.bytes;
  }
  glyph.columns = ColumnsOf(static_cast<wchar_t>(code));
  return glyph;
}

std::string Painted(ColorMode mode,
                    std::string_view escapes,
                    std::string_view tags,
                    std::string_view text) {
  switch (mode) {
    case ColorMode::kNever:
      return std::string(text);
    case ColorMode::kAlways:
      return fmt::format("{}{}\x1B[0m", escapes, text);
    case ColorMode::kRaw:
      return fmt::format("{}{}<{{%reset%}}>", tags, text);
  }
  return std::string(text);
}

}  // namespace

std::string Style::Fg(int color, std::string_view text) const {
  return Painted(
      mode_, fmt::format("\x1B[38;5;{}m", color), fmt::format("<{{%fg {}%}}>", color), text);
}

std::string Style::BoldFg(int color, std::string_view text) const {
  return Painted(mode_,
                 fmt::format("\x1B[1m\x1B[38;5;{}m", color),
                 fmt::format("<{{%bold%}}><{{%fg {}%}}>", color),
                 text);
}

std::string Style::UnderlinedFg(int color, std::string_view text) const {
  return Painted(mode_,
                 fmt::format("\x1B[4m\x1B[38;5;{}m", color),
                 fmt::format("<{{%underline%}}><{{%fg {}%}}>", color),
                 text);
}

std::string WithoutColors(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t escape = EscapeLength(text, at)) {
      at += escape;
      continue;
    }
    const std::size_t end =
        text.substr(at, 3) == "<{%" ? text.find("%}>", at) : std::string_view::npos;
    if (end != std::string_view::npos) {
      at = end + 3;
      continue;
    }
    out += text[at++];
  }
  return out;
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t escape = EscapeLength(text, at)) {
      at += escape;
      continue;
    }
    const Glyph glyph = GlyphAt(text, at);
    width += glyph.columns;
    at += glyph.bytes;
  }
  return width;
}

std::string CutToWidth(std::string_view text, std::size_t width) {
  if (DisplayWidth(text) <= width) {
    return std::string(text);
  }
  std::string out;
  std::size_t used = 0;
  bool has_escapes = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t escape = EscapeLength(text, at)) {
      out += text.substr(at, escape);
      has_escapes = true;
      at += escape;
      continue;
    }
    const Glyph glyph = GlyphAt(text, at);
    used += glyph.columns;
    if (used > width) {
      break;
    }
    out += text.substr(at, glyph.bytes);
    at += glyph.bytes;
  }
  return has_escapes ? out + "\x1B[0m" : out;
}

}  // namespace davit
