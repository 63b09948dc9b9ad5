#pragma once
// Builds JSON text piece by piece: key order is the order of the calls, numbers as ECMAScript
// prints them, no HTML escaping (C65, C130). Values only, any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace davit {

class JsonWriter {
 public:
  /// `indent` 0 gives one line, else that many spaces per level.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  /// Bytes that are not UTF-8 become U+FFFD.
  JsonWriter& String(std::string_view text);
  /// NaN and the infinities, which JSON lacks, become null.
  JsonWriter& Number(double value);
  JsonWriter& Integer(std::int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null() { return Raw("null"); }
  /// A value that is JSON already.
  JsonWriter& Raw(std::string_view json);

  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void BeforeValue();
  void NewLine();

  int indent_;
  std::string text_;
  std::vector<bool> has_members_;  ///< of each open container
  bool after_key_ = false;
};

/// `text` as a JSON string literal.
std::string JsonString(std::string_view text);

}  // namespace davit
