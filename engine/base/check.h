#pragma once
// DAVIT_CHECK: an invariant of ours. A violation is a bug and is thrown as BugError; it is caught
// at four places only: the adapter of a throwing library, the step boundary, the RPC entry and
// main.

#include <stdexcept>
#include <string>

namespace davit {

/// Thrown when an invariant of davit itself does not hold.
class BugError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws BugError with file, line, condition and message.
[[noreturn]] void CheckFailed(const char* file,
                              int line,
                              const char* condition,
                              const std::string& message);

#define DAVIT_CHECK(condition, message)                                \
  do {                                                                 \
    if (!(condition)) [[unlikely]] {                                   \
      ::davit::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                  \
  } while (false)

}  // namespace davit
