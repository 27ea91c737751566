// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace luminal {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: internal error: %s%s%s\n", file, line, condition,
               message.empty() ? "" : ": ", message.c_str());
  std::abort();
}

}  // namespace luminal
