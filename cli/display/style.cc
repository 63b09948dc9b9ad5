#include "cli/display/style.h"

#include <fmt/format.h>

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

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
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
    width += IsContinuation(text[at]) ? 0 : 1;
    ++at;
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
    if (!IsContinuation(text[at]) && ++used > width) {
      break;
    }
    out += text[at++];
  }
  return has_escapes ? out + "\x1B[0m" : out;
}

}  // namespace davit
