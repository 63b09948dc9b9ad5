// Text of property values for people: DebugText, NumberText and the UTF-8 test.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>
#include <utility>

#include "engine/base/check.h"
#include "engine/value/property_value.h"

namespace davit {
namespace {

// Length of the UTF-8 sequence at the beginning of `text`; 0 when there is none. Surrogates,
// overlong forms and code points beyond U+10FFFF are not UTF-8.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  std::size_t length = 0;
  unsigned char low = 0x80;  // range of the second byte
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    low = first == 0xE0 ? 0xA0 : low;
    high = first == 0xED ? 0x9F : high;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    low = first == 0xF0 ? 0x90 : low;
    high = first == 0xF4 ? 0x8F : high;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) {
    return 0;
  }
  for (std::size_t at = 2; at < length; ++at) {
    if (byte(at) < 0x80 || byte(at) > 0xBF) {
      return 0;
    }
  }
  return length;
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = SequenceLength(text);
    if (first == '"' || first == '\\') {
      *out += '\\';
      *out += text[0];
    } else if (first == '\n') {
      *out += "\\n";
    } else if (first == '\t') {
      *out += "\\t";
    } else if (length == 0 || first < 0x20 || first == 0x7F) {
      *out += fmt::format("\\x{:02x}", first);
    } else {
      *out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  *out += '"';
}

void AppendDebugText(const PropertyValue& value, int depth, std::string* out);

void AppendDebugText(const PropertyMap& map, int depth, std::string* out) {
  *out += '{';
  bool first = true;
  for (const auto& [key, item] : map) {
    if (!std::exchange(first, false)) {
      *out += ',';
    }
    AppendQuoted(key, out);
    *out += ':';
    AppendDebugText(item, depth, out);
  }
  *out += '}';
}

void AppendDebugText(const PropertyList& list, int depth, std::string* out) {
  *out += '[';
  bool first = true;
  for (const PropertyValue& item : list) {
    if (!std::exchange(first, false)) {
      *out += ',';
    }
    AppendDebugText(item, depth, out);
  }
  *out += ']';
}

// Assets show where they come from, never a text: that may be long.
std::string SourceText(const Asset& asset) {
  if (asset.source == Asset::Source::kPath || asset.source == Asset::Source::kUri) {
    return asset.content;
  }
  return asset.source == Asset::Source::kText ? "text" : asset.hash;
}

std::string SourceText(const Archive& archive) {
  if (archive.source == Archive::Source::kAssets) {
    return fmt::format("of {}", archive.assets ? archive.assets->size() : 0);
  }
  return archive.source == Archive::Source::kNone ? archive.hash : archive.location;
}

void AppendDebugText(const PropertyValue& value, int depth, std::string* out) {
  DAVIT_CHECK(depth <= kMaxValueDepth, "a property value is nested too deeply");
  switch (value.kind()) {
    case ValueKind::kNull:
      *out += "null";
      return;
    case ValueKind::kBool:
      *out += *value.as_bool() ? "true" : "false";
      return;
    case ValueKind::kNumber:
      *out += NumberText(*value.as_number());
      return;
    case ValueKind::kString:
      return AppendQuoted(*value.as_string(), out);
    case ValueKind::kList:
      return AppendDebugText(*value.as_list(), depth + 1, out);
    case ValueKind::kMap:
      return AppendDebugText(*value.as_map(), depth + 1, out);
    case ValueKind::kAsset:
      *out += fmt::format("[asset {}]", SourceText(*value.as_asset()));
      return;
    case ValueKind::kArchive:
      *out += fmt::format("[archive {}]", SourceText(*value.as_archive()));
      return;
    case ValueKind::kUnknown:
      *out += "[unknown]";
      return;
    case ValueKind::kSecret:
      *out += "[secret]";
      return;
    case ValueKind::kOutput: {
      const Output& output = *value.as_output();
      if (output.is_secret) {
        *out += "[secret]";
      } else if (output.element == nullptr) {
        *out += "[unknown]";
      } else {
        AppendDebugText(*output.element, depth + 1, out);
      }
      return;
    }
    case ValueKind::kReference:
      *out += fmt::format("[resource {}]", value.as_reference()->urn);
      return;
  }
}

// The decimal text of 0.d1d2d3... * 10^(exponent + 1) by S59.
std::string PlaceDigits(std::string digits, int exponent) {
  if (exponent < -6 || exponent >= 21) {
    if (digits.size() > 1) {
      digits.insert(1, ".");
    }
    return fmt::format("{}e{:+}", digits, exponent);
  }
  if (exponent < 0) {
    return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return digits + std::string(whole - digits.size(), '0');
  }
  return digits.insert(whole, ".");
}

}  // namespace

std::string DebugText(const PropertyValue& value) {
  std::string text;
  AppendDebugText(value, 0, &text);
  return text;
}

bool IsUtf8(std::string_view text) {
  const auto is_other = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  while (true) {
    // Most texts are ASCII from end to end.
    const auto other = std::find_if(text.begin(), text.end(), is_other);
    if (other == text.end()) {
      return true;
    }
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    const std::size_t length = SequenceLength(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
}

std::string NumberText(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-Infinity" : "Infinity";
  }
  if (value == 0) {
    return std::signbit(value) ? "-0" : "0";
  }
  // The shortest digits that read back as the same number; sign, digits, point and exponent are at
  // most 24 characters.
  char buffer[32];
  const std::to_chars_result written = std::to_chars(
      std::begin(buffer), std::end(buffer), std::fabs(value), std::chars_format::scientific);
  DAVIT_CHECK(written.ec == std::errc(), "the buffer for a number is too small");
  const std::string_view scientific(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t exponent_at = scientific.find('e');
  std::string digits(scientific.substr(0, exponent_at));
  std::erase(digits, '.');
  // from_chars takes no plus sign.
  int exponent = 0;
  const std::size_t sign = exponent_at + 1;
  std::from_chars(buffer + sign + (buffer[sign] == '+' ? 1 : 0), written.ptr, exponent);
  return (value < 0 ? "-" : "") + PlaceDigits(std::move(digits), exponent);
}

}  // namespace davit
