#include "state/codec/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/value/property_value.h"

namespace davit {
namespace {

// Length of the valid UTF-8 sequence at the beginning; 0 when there is none.
std::size_t SequenceLength(std::string_view text) {
  for (std::size_t length = 2; length <= std::min<std::size_t>(text.size(), 4); ++length) {
    if (IsUtf8(text.substr(0, length))) {
      return length;
    }
  }
  return 0;
}

// Which bytes are ASCII characters that stand for themselves.
using PlainBytes = std::array<bool, 256>;

constexpr PlainBytes MakePlainBytes(HtmlEscaping html) {
  PlainBytes plain{};
  for (int byte = 0x20; byte < 0x80; ++byte) {
    const bool is_html = byte == '<' || byte == '>' || byte == '&';
    plain[static_cast<std::size_t>(byte)] =
        byte != '"' && byte != '\\' && (html == HtmlEscaping::kOff || !is_html);
  }
  return plain;
}

constexpr PlainBytes kPlain = MakePlainBytes(HtmlEscaping::kOff);
constexpr PlainBytes kPlainInHtml = MakePlainBytes(HtmlEscaping::kOn);

void AppendAsciiEscape(char c, std::string* out) {
  switch (c) {
    case '"':
    case '\\':
      *out += '\\';
      *out += c;
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\b':
      *out += "\\b";
      return;
    case '\f':
      *out += "\\f";
      return;
    default:
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

void AppendJsonString(std::string_view text, HtmlEscaping html, std::string* out) {
  const PlainBytes& is_plain = html == HtmlEscaping::kOff ? kPlain : kPlainInHtml;
  *out += '"';
  while (!text.empty()) {
    const auto* const end = std::find_if(
        text.begin(), text.end(), [&](char c) { return !is_plain[static_cast<unsigned char>(c)]; });
    const auto plain = static_cast<std::size_t>(end - text.begin());
    *out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      AppendAsciiEscape(text[0], out);
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, length);
    if (length == 0) {
      *out += "\\ufffd";
    } else if (sequence == "\xE2\x80\xA8") {
      *out += "\\u2028";
    } else if (sequence == "\xE2\x80\xA9") {
      *out += "\\u2029";
    } else {
      *out += sequence;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  *out += '"';
}

std::string CompactJson(JsonReader& reader) {
  std::string out;
  std::vector<char> open;  // closing brackets of the containers that are not complete
  std::string key;
  // Goes on inside the innermost container: after its first bracket, or after a value in it.
  const auto next = [&](bool is_first) {
    const bool is_object = open.back() == '}';
    if (is_object ? !reader.NextMember(&key) : !reader.NextItem()) {
      return false;
    }
    out += is_first ? "" : ",";
    if (is_object) {
      AppendJsonString(key, HtmlEscaping::kOff, &out);
      out += ':';
    }
    return true;
  };
  do {
    const JsonKind kind = reader.Peek();
    bool goes_on = false;
    if (kind == JsonKind::kObject || kind == JsonKind::kArray) {
      const bool is_object = kind == JsonKind::kObject;
      is_object ? reader.EnterObject() : reader.EnterArray();
      out += is_object ? '{' : '[';
      open.push_back(is_object ? '}' : ']');
      goes_on = next(true);
    } else if (kind == JsonKind::kString) {
      AppendJsonString(reader.String(), HtmlEscaping::kOff, &out);
      goes_on = !open.empty() && next(false);
    } else {
      out += reader.Raw();
      goes_on = !open.empty() && next(false);
    }
    while (!goes_on && !open.empty() && !reader.failed()) {
      out += open.back();
      open.pop_back();
      goes_on = !open.empty() && next(false);
    }
  } while (!open.empty() && !reader.failed());
  return reader.failed() ? "null" : out;
}

std::string IndentJson(std::string_view compact, int spaces) {
  std::string out;
  out.reserve(compact.size() * 2);
  std::size_t depth = 0;
  const auto line = [&] {
    out += '\n';
    out.append(depth * static_cast<std::size_t>(spaces), ' ');
  };
  for (std::size_t at = 0; at < compact.size(); ++at) {
    const char c = compact[at];
    const char next = at + 1 < compact.size() ? compact[at + 1] : '\0';
    if (c == '"') {
      const std::size_t begin = at++;
      while (at < compact.size() && compact[at] != '"') {
        at += compact[at] == '\\' ? 2U : 1U;
      }
      out += compact.substr(begin, at - begin + 1);
    } else if ((c == '{' && next == '}') || (c == '[' && next == ']')) {
      out += c;
      out += next;
      ++at;
    } else if (c == '{' || c == '[') {
      out += c;
      ++depth;
      line();
    } else if (c == '}' || c == ']') {
      --depth;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else if (c == ':') {
      out += ": ";
    } else {
      out += c;
    }
  }
  return out;
}

std::string* JsonObjectWriter::Key(std::string_view name) {
  *out_ += std::exchange(first_, false) ? "" : ",";
  AppendJsonString(name, HtmlEscaping::kOff, out_);
  *out_ += ':';
  return out_;
}

void JsonObjectWriter::String(std::string_view name, std::string_view value) {
  AppendJsonString(value, HtmlEscaping::kOff, Key(name));
}

void JsonObjectWriter::StringIfAny(std::string_view name, std::string_view value) {
  if (!value.empty()) {
    String(name, value);
  }
}

void JsonObjectWriter::TrueIf(std::string_view name, bool value) {
  if (value) {
    *Key(name) += "true";
  }
}

}  // namespace davit
