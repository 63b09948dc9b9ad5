#pragma once
// Reads JSON text from front to back without building a tree. Errors stick: after the first one
// every call gives a default value at once, so that callers check once, at the end. Nesting is
// limited by kMaxValueDepth, not by the stack. Invalid UTF-8 and lone surrogates become U+FFFD; a
// number keeps the sign of zero. One thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/result.h"

namespace davit {

enum class JsonKind { kNull, kBool, kNumber, kString, kObject, kArray, kEnd, kInvalid };

class JsonReader {
 public:
  /// `text` must outlive the reader; `what` names the document in errors ("the checkpoint").
  explicit JsonReader(std::string_view text, std::string what = "the JSON text")
      : text_(text), what_(std::move(what)) {}

  /// Kind of the next value; kInvalid after an error.
  JsonKind Peek();

  // Scalars; `null` counts as the default value, another kind is an error.
  bool Bool();
  double Number();
  std::string String();
  /// Takes the string into an existing buffer.
  void String(std::string* out);
  /// Skips a value of any kind and gives its text.
  std::string_view Raw();

  /// Enters an object (`null` counts as an empty one). Then NextMember until it is false; the value
  /// must be taken each time.
  bool EnterObject();
  bool NextMember(std::string* key);
  /// Likewise for arrays.
  bool EnterArray();
  bool NextItem();

  /// Checks that nothing but space is left.
  void ExpectEnd();
  /// Records an error at the present place, unless there is one already.
  void SetError(std::string message);
  /// Likewise with an error that is not about the text itself; error() gives it as it is.
  void SetError(Error error);
  bool failed() const { return failed_; }
  Result<void> Finish() const;
  /// Error of the first failure; only when failed().
  Error error() const;

  std::size_t offset() const { return at_; }
  std::string_view text() const { return text_; }

 private:
  void SkipSpace();
  bool Consume(char c);
  bool Literal(std::string_view word);
  bool Enter(char open, const char* what);
  bool Next(char close);
  void AppendEscape(std::string* out);
  void SkipString();
  int Hex4();

  std::string_view text_;
  std::string what_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool first_ = false;  ///< a container was just entered
  bool failed_ = false;
  std::size_t error_at_ = 0;
  std::string message_;
  std::optional<Error> given_;
};

/// What takes the value of each member that an object may have.
using MemberReaders = std::unordered_map<std::string_view, std::function<void()>>;
/// Takes an object (`null` counts as an empty one); another member than these is an error.
void ReadMembers(JsonReader& reader, const MemberReaders& readers);

}  // namespace davit
