// SPDX-License-Identifier: MIT OR Apache-2.0
// A reference to anything that can be called; it owns nothing and costs one indirect call. For parameters that are
// called before the function returns.
//
//   void each(FunctionRef<void(int)> visit);
//   each([&](int n) { sum += n; });
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace luminal {

template <class Signature>
class FunctionRef;

template <class Return, class... Args>
class FunctionRef<Return(Args...)> {
 public:
  template <class Callable, class = std::enable_if_t<
                                !std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>>>
  FunctionRef(Callable&& callable)  // NOLINT: implicit
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Args... args) -> Return {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(
              std::forward<Args>(args)...);
        }) {}

  Return operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Return (*call_)(void*, Args...);
};

}  // namespace luminal
