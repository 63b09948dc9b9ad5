#pragma once
// Writes JSON text into a string in the exact form of state files (S6, S59, S60). One thread.

#include <string>
#include <string_view>

#include "state/codec/json_reader.h"

namespace davit {

enum class HtmlEscaping { kOff, kOn };

/// Appends a quoted text (S60); with kOn also `<`, `>` and `&` escaped (S49).
void AppendJsonString(std::string_view text, HtmlEscaping html, std::string* out);
/// Takes the next value of any kind and gives its compact text. Errors stick to the reader.
std::string CompactJson(JsonReader& reader);
/// Spreads compact JSON text over lines (S7).
std::string IndentJson(std::string_view compact, int spaces);

/// Writes the members of one object; the closing brace comes with End.
class JsonObjectWriter {
 public:
  explicit JsonObjectWriter(std::string* out) : out_(out) { *out_ += '{'; }
  /// Begins a member whose value the caller appends.
  std::string* Key(std::string_view name);
  void String(std::string_view name, std::string_view value);
  /// Omit-empty forms.
  void StringIfAny(std::string_view name, std::string_view value);
  void TrueIf(std::string_view name, bool value);
  void End() { *out_ += '}'; }

 private:
  std::string* out_;
  bool first_ = true;
};

}  // namespace davit
