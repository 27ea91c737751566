// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs another program with given bytes on its standard input and collects what it writes, within a
// time and a size. No shell; the child sees this program's environment, none of its other files,
// and is in a process group of its own, so Ctrl-C at the terminal does not reach it.
//
//   LUM_ASSIGN_OR_RETURN(ChildOutcome child, run_child({"python3", "-c", "print(1)"}, "", {}));
//   if (child.end == ChildOutcome::Exited && child.code == 0) use(child.output);
//
// Blocks until the child has ended; a child over its limits is killed with its group. Threads may
// call it at the same time. Linux.
#pragma once

#include "luminal/base/result.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::text {

struct ChildLimits {
  std::chrono::milliseconds time{10000};
  std::size_t output_bytes = std::size_t{16} << 20;  ///< of each of the two streams
};

struct ChildOutcome {
  enum End {
    Exited,         ///< by itself, with `code`
    Signalled,      ///< by the signal `code`
    NotFound,       ///< there is no such program, or it may not be run
    OverTime,       ///< killed
    TooMuchOutput,  ///< killed
  };
  End end = Exited;
  int code = 0;
  std::string output, errors;  ///< what came on the standard output and the standard error
};

/// `arguments[0]` is a path, or a name that is looked for in PATH. Errors: what the system refuses
/// (no more processes or file descriptors).
Result<ChildOutcome> run_child(const std::vector<std::string>& arguments, std::string_view input,
                               const ChildLimits& limits);

}  // namespace luminal::text
