#include "engine/base/error.h"

#include <fmt/format.h>

namespace davit {

Error Error::WithContext(std::string_view context) && {
  message = fmt::format("{}: {}", context, message);
  return std::move(*this);
}

std::string Error::Text() const {
  std::string text;
  if (where) {
    text = where->file;
    if (where->line > 0) {
      text += fmt::format(":{}", where->line);
      if (where->column > 0) {
        text += fmt::format(":{}", where->column);
      }
    }
    text += ": ";
  }
  text += message;
  if (!advice.empty()) {
    text += "; " + advice;
  }
  return text;
}

Error MakeError(ErrorKind kind, std::string message, std::string advice) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  error.advice = std::move(advice);
  return error;
}

}  // namespace davit
