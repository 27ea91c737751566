// SPDX-License-Identifier: MIT OR Apache-2.0
// What the program says besides its result: messages, progress, Ctrl-C. All of it goes to stderr.
#pragma once

#include "luminal/base/result.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::cli {

/// Installs the handler of Ctrl-C (SIGINT) and SIGTERM: the first sets the flag below, the second ends the program
/// at once. A reader that leaves (`| head`) ends the program quietly.
void install_signals();
/// Set by Ctrl-C; whoever acts on it calls clear_interrupt().
const std::atomic<bool>& interrupt_flag();
inline bool interrupted() { return interrupt_flag().load(std::memory_order_relaxed); }
void clear_interrupt();

/// "luminal: error: message" and exit code 1; after Ctrl-C nothing but exit code 130.
int fail(const Error& error);
/// "luminal: message"
void note(std::string_view message);

/// Progress of long steps: bars on a terminal, a line at the start and the end of a step elsewhere.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Returns false when the user pressed Ctrl-C.
  bool show(std::string_view stage, std::int64_t done, std::int64_t total);
  /// Takes the bar away.
  void clear();

 private:
  const bool quiet_;
  const bool terminal_;
  std::string stage_;
  std::int64_t shown_ = -1;  // per mille
};

}  // namespace luminal::cli
