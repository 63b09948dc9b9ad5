#include "cli/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/value/property_value.h"

namespace davit {
namespace {

// Length of the UTF-8 sequence at `at`, 0 when there is none.
std::size_t SequenceLength(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  return length > 0 && at + length <= text.size() && IsUtf8(text.substr(at, length)) ? length : 0;
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = SequenceLength(text, at);
    const char c = text[at];
    if (length == 0) {
      *out += "\\ufffd";
    } else if (length > 1) {
      *out += text.substr(at, length);
    } else if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\r') {
      *out += "\\r";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      *out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      *out += c;
    }
    at += length == 0 ? 1 : length;
  }
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  AppendEscaped(text, &out);
  return out + '"';
}

void JsonWriter::NewLine() {
  if (indent_ > 0) {
    text_ += '\n';
    text_.append(has_members_.size() * static_cast<std::size_t>(indent_), ' ');
  }
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) {
    return;
  }
  if (has_members_.back()) {
    text_ += ',';
  }
  has_members_.back() = true;
  NewLine();
}

JsonWriter& JsonWriter::Open(char bracket) {
  BeforeValue();
  text_ += bracket;
  has_members_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members) {
    NewLine();
  }
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  BeforeValue();
  text_ += JsonString(key);
  text_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  return Raw(JsonString(text));
}

JsonWriter& JsonWriter::Number(double value) {
  return Raw(std::isfinite(value) ? NumberText(value) : "null");
}

JsonWriter& JsonWriter::Integer(std::int64_t value) {
  return Raw(std::to_string(value));
}

JsonWriter& JsonWriter::Bool(bool value) {
  return Raw(value ? "true" : "false");
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  BeforeValue();
  text_ += json;
  return *this;
}

}  // namespace davit
