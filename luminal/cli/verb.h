// SPDX-License-Identifier: MIT OR Apache-2.0
// A verb of the program: one file each, one row in the table of main.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace luminal::cli {

/// Exit codes of the program.
enum Exit : int {
  kOk = 0,
  kFailed = 1,        ///< the work could not be done; the message says why
  kUsage = 2,         ///< the command line is not understood
  kInterrupted = 130  ///< Ctrl-C
};

struct Verb {
  const char* name;
  const char* help;
  /// Declares the options and gives what runs after parsing; it returns an exit code.
  std::function<int()> (*declare)(CLI::App& command);
};

std::function<int()> declare_chat(CLI::App& command);
std::function<int()> declare_generate(CLI::App& command);
std::function<int()> declare_info(CLI::App& command);

}  // namespace luminal::cli
