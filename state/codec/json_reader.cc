#include "state/codec/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "engine/value/property_value.h"

namespace davit {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

void AppendCodePoint(unsigned code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Length of a number by the grammar of JSON; 0 when there is none.
std::size_t NumberLength(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && IsDigit(text[at])) {
      ++at;
    }
    return at - begin;
  };
  if (at < text.size() && text[at] == '-') {
    ++at;
  }
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (digits() == 0) {
    return 0;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) {
      return 0;
    }
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
      ++at;
    }
    if (digits() == 0) {
      return 0;
    }
  }
  return at;
}

// Whether a number beyond the range of a double is beyond it because it is small.
bool IsTiny(std::string_view number) {
  number.remove_prefix(number.front() == '-' ? 1U : 0U);
  return number.find("e-") != std::string_view::npos ||
         number.find("E-") != std::string_view::npos || number.substr(0, 2) == "0.";
}

// Copies text whose bytes may not be UTF-8, each bad byte replaced.
void AppendUtf8(std::string_view text, std::string* out) {
  while (!text.empty()) {
    std::size_t length = std::min<std::size_t>(text.size(), 4);
    while (length > 0 && !(IsUtf8(text.substr(0, length)))) {
      --length;
    }
    if (length == 0) {
      *out += kReplacement;
      text.remove_prefix(1);
    } else {
      *out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
}

}  // namespace

void JsonReader::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) {
    ++at_;
  }
}

JsonKind JsonReader::Peek() {
  if (failed_) {
    return JsonKind::kInvalid;
  }
  SkipSpace();
  if (at_ == text_.size()) {
    return JsonKind::kEnd;
  }
  switch (text_[at_]) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kString;
    case 't':
    case 'f':
      return JsonKind::kBool;
    case 'n':
      return JsonKind::kNull;
    default:
      return text_[at_] == '-' || IsDigit(text_[at_]) ? JsonKind::kNumber : JsonKind::kInvalid;
  }
}

void JsonReader::SetError(std::string message) {
  if (!failed_) {
    failed_ = true;
    error_at_ = at_;
    message_ = std::move(message);
  }
}

void JsonReader::SetError(Error error) {
  if (!failed_) {
    failed_ = true;
    given_ = std::move(error);
  }
}

bool JsonReader::Consume(char c) {
  SkipSpace();
  if (!failed_ && at_ < text_.size() && text_[at_] == c) {
    ++at_;
    return true;
  }
  return false;
}

bool JsonReader::Literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) {
    SetError("expected a value");
    return false;
  }
  at_ += word.size();
  return true;
}

bool JsonReader::Bool() {
  switch (Peek()) {
    case JsonKind::kBool:
      return text_[at_] == 't' ? Literal("true") : !Literal("false");
    case JsonKind::kNull:
      Literal("null");
      return false;
    default:
      SetError("expected true or false");
      return false;
  }
}

double JsonReader::Number() {
  const JsonKind kind = Peek();
  if (kind == JsonKind::kNull) {
    Literal("null");
    return 0;
  }
  const std::size_t length = kind == JsonKind::kNumber ? NumberLength(text_.substr(at_)) : 0;
  if (length == 0) {
    SetError("expected a number");
    return 0;
  }
  const char* begin = text_.data() + at_;
  double value = 0;
  const std::from_chars_result read = std::from_chars(begin, begin + length, value);
  if (read.ec == std::errc::result_out_of_range && IsTiny(text_.substr(at_, length))) {
    value = *begin == '-' ? -0.0 : 0.0;
  } else if (read.ec != std::errc()) {
    SetError("the number is too large");
    return 0;
  }
  at_ += length;
  return value;
}

std::string JsonReader::String() {
  std::string out;
  String(&out);
  return out;
}

void JsonReader::String(std::string* out) {
  out->clear();
  const JsonKind kind = Peek();
  if (kind == JsonKind::kNull) {
    Literal("null");
    return;
  }
  if (kind != JsonKind::kString) {
    SetError("expected a text");
    return;
  }
  ++at_;
  bool is_ascii = true;
  while (true) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20) {
      is_ascii = is_ascii && static_cast<unsigned char>(text_[at_]) < 0x80;
      ++at_;
    }
    const std::string_view run = text_.substr(begin, at_ - begin);
    if (is_ascii || IsUtf8(run)) {
      *out += run;
    } else {
      AppendUtf8(run, out);
    }
    if (at_ == text_.size()) {
      SetError("the text does not end");
      return;
    }
    if (text_[at_] == '"') {
      ++at_;
      return;
    }
    if (text_[at_] != '\\') {
      SetError("a control character must be escaped");
      return;
    }
    AppendEscape(out);
    if (failed_) {
      return;
    }
  }
}

int JsonReader::Hex4() {
  int code = 0;
  const std::size_t end = at_ + 4;
  if (end > text_.size()) {
    return -1;
  }
  const char* begin = text_.data() + at_;
  const std::from_chars_result read = std::from_chars(begin, begin + 4, code, 16);
  if (read.ec != std::errc() || read.ptr != begin + 4 || *begin == '-') {
    return -1;
  }
  at_ = end;
  return code;
}

void JsonReader::AppendEscape(std::string* out) {
  ++at_;
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  ++at_;
  switch (c) {
    case '"':
    case '\\':
    case '/':
      *out += c;
      return;
    case 'n':
      *out += '\n';
      return;
    case 't':
      *out += '\t';
      return;
    case 'r':
      *out += '\r';
      return;
    case 'b':
      *out += '\b';
      return;
    case 'f':
      *out += '\f';
      return;
    case 'u':
      break;
    default:
      --at_;
      SetError("unknown escape");
      return;
  }
  const int code = Hex4();
  if (code < 0) {
    SetError("expected four hexadecimal digits");
    return;
  }
  if (code < 0xD800 || code > 0xDFFF) {
    AppendCodePoint(static_cast<unsigned>(code), out);
    return;
  }
  if (code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
    const std::size_t begin = at_;
    at_ += 2;
    const int low = Hex4();
    if (low >= 0xDC00 && low <= 0xDFFF) {
      AppendCodePoint(static_cast<unsigned>(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)),
                      out);
      return;
    }
    at_ = begin;
  }
  *out += kReplacement;
}

void JsonReader::SkipString() {
  ++at_;
  while (at_ < text_.size() && text_[at_] != '"') {
    at_ += text_[at_] == '\\' ? 2U : 1U;
  }
  if (at_ >= text_.size()) {
    at_ = text_.size();
    SetError("the text does not end");
    return;
  }
  ++at_;
}

// Checks the nesting and the tokens, not the commas: a part that is decoded is read again.
std::string_view JsonReader::Raw() {
  if (Peek() == JsonKind::kEnd) {
    SetError("expected a value");
  }
  const std::size_t begin = at_;
  int open = 0;
  do {
    const JsonKind kind = Peek();
    switch (kind) {
      case JsonKind::kObject:
      case JsonKind::kArray:
        ++at_;
        if (depth_ + ++open > kMaxValueDepth) {
          SetError("the values are nested too deeply");
        }
        break;
      case JsonKind::kString:
        SkipString();
        break;
      case JsonKind::kBool:
        Literal(text_[at_] == 't' ? "true" : "false");
        break;
      case JsonKind::kNull:
        Literal("null");
        break;
      case JsonKind::kNumber: {
        const std::size_t length = NumberLength(text_.substr(at_));
        if (length == 0) {
          SetError("expected a number");
        }
        at_ += length;
        break;
      }
      case JsonKind::kEnd:
        SetError("the text ends inside a value");
        break;
      case JsonKind::kInvalid:
        if (!failed_ && open > 0 && (text_[at_] == '}' || text_[at_] == ']')) {
          --open;
          ++at_;
        } else if (!failed_ && open > 0 && (text_[at_] == ',' || text_[at_] == ':')) {
          ++at_;
        } else {
          SetError("expected a value");
        }
        break;
    }
  } while (open > 0 && !failed_);
  return failed_ ? std::string_view("null") : text_.substr(begin, at_ - begin);
}

bool JsonReader::Enter(char open, const char* what) {
  const JsonKind kind = Peek();
  if (kind == JsonKind::kNull) {
    Literal("null");
    return false;
  }
  if (!Consume(open)) {
    SetError(fmt::format("expected {}", what));
    return false;
  }
  if (++depth_ > kMaxValueDepth) {
    SetError("the values are nested too deeply");
    return false;
  }
  first_ = true;
  return true;
}

bool JsonReader::Next(char close) {
  if (failed_) {
    return false;
  }
  if (Consume(close)) {
    first_ = false;
    --depth_;
    return false;
  }
  if (!first_ && !Consume(',')) {
    SetError(fmt::format("expected ',' or '{}'", close));
    return false;
  }
  first_ = false;
  return true;
}

bool JsonReader::EnterObject() {
  return Enter('{', "an object");
}
bool JsonReader::EnterArray() {
  return Enter('[', "a list");
}
bool JsonReader::NextItem() {
  return Next(']');
}

bool JsonReader::NextMember(std::string* key) {
  if (!Next('}')) {
    return false;
  }
  if (Peek() != JsonKind::kString) {
    SetError("expected a key");
    return false;
  }
  String(key);
  if (!Consume(':')) {
    SetError("expected ':'");
  }
  return !failed_;
}

void JsonReader::ExpectEnd() {
  if (Peek() != JsonKind::kEnd) {
    SetError("there is something after the end");
  }
}

Error JsonReader::error() const {
  if (given_) {
    return *given_;
  }
  const std::string_view before = text_.substr(0, std::min(error_at_, text_.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t last = before.rfind('\n');
  const std::size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  return MakeError(
      ErrorKind::kInvalid,
      fmt::format("{} is damaged at line {}, column {}: {}", what_, line, column, message_));
}

Result<void> JsonReader::Finish() const {
  if (failed_) {
    return Fail(error());
  }
  return {};
}

void ReadMembers(JsonReader& reader, const MemberReaders& readers) {
  std::string key;
  if (!reader.EnterObject()) {
    return;
  }
  while (reader.NextMember(&key)) {
    const auto known = readers.find(key);
    if (known == readers.end()) {
      reader.SetError(fmt::format("the member '{}' is not known", key));
      return;
    }
    known->second();
  }
}

}  // namespace davit
