#pragma once
// Result<T>: a value or an Error. The interface is named like std::expected, which g++ 12 offers
// only in C++23.

#include <type_traits>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/base/error.h"

namespace davit {

/// Wraps an error so that it converts to any Result.
struct Unexpected {
  Error error;
};

inline Unexpected Fail(Error error) {
  return Unexpected{std::move(error)};
}
inline Unexpected Fail(ErrorKind kind, std::string message, std::string advice = {}) {
  return Unexpected{MakeError(kind, std::move(message), std::move(advice))};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Unexpected failure)                                 // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<1>, std::move(failure.error)) {}
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Unexpected>)
      Result(U&& value)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    DAVIT_CHECK(has_value(), "a failed result has no value");
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    DAVIT_CHECK(has_value(), "a failed result has no value");
    return *std::get_if<0>(&state_);
  }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    DAVIT_CHECK(!has_value(), "a result with a value has no error");
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    DAVIT_CHECK(!has_value(), "a result with a value has no error");
    return *std::get_if<1>(&state_);
  }
  Error&& error() && { return std::move(error()); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Unexpected failure)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<1>, std::move(failure.error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  Error& error() & {
    DAVIT_CHECK(!has_value(), "a successful result has no error");
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    DAVIT_CHECK(!has_value(), "a successful result has no error");
    return *std::get_if<1>(&state_);
  }
  Error&& error() && { return std::move(error()); }

 private:
  std::variant<std::monostate, Error> state_;
};

#define DAVIT_JOIN_INNER(a, b) a##b
#define DAVIT_JOIN(a, b) DAVIT_JOIN_INNER(a, b)

// The four macros expand to statements: `co_return` inside a statement expression crashes g++ 12.

/// Returns the error of `expression`, else defines `declaration` with its value.
#define DAVIT_TRY(declaration, expression)                                        \
  auto DAVIT_JOIN(davit_result_, __LINE__) = (expression);                        \
  if (!DAVIT_JOIN(davit_result_, __LINE__)) {                                     \
    return ::davit::Fail(std::move(DAVIT_JOIN(davit_result_, __LINE__)).error()); \
  }                                                                               \
  declaration = std::move(DAVIT_JOIN(davit_result_, __LINE__)).value()

/// Returns the error of `expression` (a Result<void> or one whose value is not wanted).
#define DAVIT_TRY_VOID(expression)                           \
  do {                                                       \
    auto davit_result = (expression);                        \
    if (!davit_result) {                                     \
      return ::davit::Fail(std::move(davit_result).error()); \
    }                                                        \
  } while (false)

/// DAVIT_TRY for coroutines.
#define DAVIT_CO_TRY(declaration, expression)                                        \
  auto DAVIT_JOIN(davit_result_, __LINE__) = (expression);                           \
  if (!DAVIT_JOIN(davit_result_, __LINE__)) {                                        \
    co_return ::davit::Fail(std::move(DAVIT_JOIN(davit_result_, __LINE__)).error()); \
  }                                                                                  \
  declaration = std::move(DAVIT_JOIN(davit_result_, __LINE__)).value()

/// DAVIT_TRY_VOID for coroutines.
#define DAVIT_CO_TRY_VOID(expression)                           \
  do {                                                          \
    auto davit_result = (expression);                           \
    if (!davit_result) {                                        \
      co_return ::davit::Fail(std::move(davit_result).error()); \
    }                                                           \
  } while (false)

}  // namespace davit
