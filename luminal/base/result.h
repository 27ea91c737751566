// SPDX-License-Identifier: MIT OR Apache-2.0
// Result<T>: a value, or an Error that a user, a file or a device caused. Nothing in the library throws.
// A message is lower case, has no full stop, and says the thing, the value and the way out.
//
//   Result<int> parse(std::string_view text);
//   LUM_ASSIGN_OR_RETURN(int n, parse(text));   // returns the error from the enclosing function
//   LUM_RETURN_IF_ERROR(write(file));
#pragma once

#include "luminal/base/check.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace luminal {

struct Error {
  std::string message;

  /// The same error seen from outside: "context: message".
  Error within(const std::string& context) const { return Error{context + ": " + message}; }
};

/// error("tensor ", name, ": ..") makes an Error from its parts.
template <class... Parts>
Error error(const Parts&... parts) {
  return Error{cat(parts...)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}          // NOLINT: implicit
  Result(Error failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const Error& error() const {
    LUM_CHECK(!ok());
    return std::get<1>(state_);
  }
  /// The value; a failed Result aborts with its message, so test ok() first.
  T& value() & {
    check();
    return std::get<0>(state_);
  }
  const T& value() const& {
    check();
    return std::get<0>(state_);
  }
  T&& value() && {
    check();
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void check() const { LUM_CHECK(ok(), std::get<1>(state_).message); }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error failure) : error_(std::move(failure)) {}  // NOLINT: implicit

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    LUM_CHECK(!ok());
    return *error_;
  }
  void value() const { LUM_CHECK(ok(), error_->message); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace luminal

#define LUM_JOIN_(a, b) a##b
#define LUM_JOIN(a, b) LUM_JOIN_(a, b)

#define LUM_RETURN_IF_ERROR(expression)                                  \
  do {                                                                   \
    if (auto lum_status = (expression); !lum_status.ok()) [[unlikely]]   \
      return lum_status.error();                                         \
  } while (false)

#define LUM_ASSIGN_OR_RETURN_(temporary, target, expression) \
  auto temporary = (expression);                             \
  if (!temporary.ok()) [[unlikely]]                          \
    return temporary.error();                                \
  target = std::move(temporary).value()
#define LUM_ASSIGN_OR_RETURN(target, expression) \
  LUM_ASSIGN_OR_RETURN_(LUM_JOIN(lum_result_, __LINE__), target, expression)
