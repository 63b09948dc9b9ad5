#include "host/wire/json_text.h"

#include <fmt/format.h>

#include "engine/value/property_value.h"

namespace davit {
namespace {

// Length of the UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return text.size() >= length && IsUtf8(text.substr(0, length)) ? length : 0;
}

}  // namespace

void AppendJsonText(std::string_view text, std::string* out) {
  *out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = SequenceLength(text);
    if (length == 0) {
      *out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    const std::string_view sequence = text.substr(0, length);
    text.remove_prefix(length);
    if (length > 1) {
      if (sequence == "\xE2\x80\xA8") {
        *out += "\\u2028";
      } else if (sequence == "\xE2\x80\xA9") {
        *out += "\\u2029";
      } else {
        *out += sequence;
      }
      continue;
    }
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&') {
          *out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          *out += c;
        }
    }
  }
  *out += '"';
}

}  // namespace davit
