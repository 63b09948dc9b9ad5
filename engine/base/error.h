#pragma once
// Errors as values: what can happen is returned, only bugs are thrown (check.h).
// Plain data, usable on any thread. Diagnostic codes follow rule E11.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace davit {

/// What the caller may do about an error.
enum class ErrorKind {
  kInvalid,         ///< the input is wrong; nothing was tried
  kRefused,         ///< understood but not permitted (protection, lock, missing approval)
  kFailed,          ///< it was tried, and the other side says that nothing changed
  kOutcomeUnknown,  ///< it was tried, and nobody can tell what happened (E8: Internal, DataLoss,
                    ///< Unknown)
  kUnavailable,     ///< the other side is gone or not there yet
  kUnimplemented,   ///< the other side does not offer this
  kCancelled,       ///< stopped on request
  kBug,             ///< an invariant of ours does not hold
};

/// A place in a text file. Lines and columns count from 1; 0 means unknown.
struct SourceRange {
  std::string file;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

/// Another place that has to do with an error, and what it is: "first defined here" (Y159).
struct RelatedPlace {
  std::string what;
  SourceRange where;
};

/// One failure: what happened, to what, what was expected, and what to do.
struct Error {
  ErrorKind kind = ErrorKind::kFailed;
  std::string message;               ///< lower case, no final period, values quoted
  std::string advice;                ///< what the user can do; may be empty
  int code = 0;                      ///< diagnostic id of E11 (2000..2017); 0 when there is none
  std::string urn;                   ///< the resource concerned; empty when there is none
  std::optional<SourceRange> where;  ///< the place in a file concerned
  std::vector<RelatedPlace> related;  ///< further places, nearest to the cause first
  bool reported = false;             ///< a *bail* (E12): already shown, only ends the operation

  /// The error with `context` put in front of its message ("context: message").
  Error WithContext(std::string_view context) &&;
  /// "file:line:column: message; advice" as far as these are known, for people.
  std::string Text() const;
};

/// Makes an error in one line.
Error MakeError(ErrorKind kind, std::string message, std::string advice = {});

}  // namespace davit
