// SPDX-License-Identifier: MIT OR Apache-2.0
// Invariants. LUM_CHECK stays on in release builds and is for what only a defect of this program can break;
// what a user, a file or a device can cause is a Result (result.h).
//
//   LUM_CHECK(axis < rank, "axis ", axis, " of a tensor of rank ", rank);
#pragma once

#include "luminal/base/cat.h"

#include <string>

namespace luminal {

/// Prints the place, the condition and the message to stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

}  // namespace luminal

#define LUM_CHECK(condition, ...)                                                           \
  do {                                                                                      \
    if (!(condition)) [[unlikely]]                                                          \
      ::luminal::check_failed(__FILE__, __LINE__, #condition, ::luminal::cat(__VA_ARGS__)); \
  } while (false)

#ifdef NDEBUG
#define LUM_DCHECK(condition, ...) \
  do {                             \
  } while (false)
#else
#define LUM_DCHECK(condition, ...) LUM_CHECK(condition, __VA_ARGS__)
#endif
