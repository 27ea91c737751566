// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/cli/terminal.h"

#include "luminal/cli/verb.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace luminal::cli {
namespace {

std::atomic<bool> interrupt{false};  // a signal handler can reach nothing else

void on_signal(int) {
  if (interrupt.exchange(true)) _exit(kInterrupted);
}

constexpr int kBarWidth = 30;

}  // namespace

void install_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;  // no SA_RESTART: a read of the terminal ends
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

const std::atomic<bool>& interrupt_flag() { return interrupt; }
void clear_interrupt() { interrupt = false; }

int fail(const Error& error) {
  if (interrupted()) return kInterrupted;
  std::fflush(stdout);
  std::fprintf(stderr, "luminal: error: %s\n", error.message.c_str());
  return kFailed;
}

void note(std::string_view message) {
  std::fflush(stdout);
  std::fprintf(stderr, "luminal: %.*s\n", static_cast<int>(message.size()), message.data());
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}
Progress::~Progress() { clear(); }

bool Progress::show(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (quiet_) return !interrupted();
  const std::int64_t share = total > 0 ? std::clamp<std::int64_t>(done * 1000 / total, 0, 1000) : 1000;
  const bool begins = stage_ != stage;
  if (!begins && share == shown_) return !interrupted();
  stage_ = stage;
  shown_ = share;
  const int length = static_cast<int>(stage.size());
  if (terminal_) {
    const int filled = static_cast<int>(share * kBarWidth / 1000);
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
    std::fprintf(stderr, "\r%.*s [%s] %3d %%\x1b[K", length, stage.data(), bar.c_str(), static_cast<int>(share / 10));
  } else if (share == 1000) {
    std::fprintf(stderr, "luminal: %.*s: done\n", length, stage.data());
  } else if (begins) {
    std::fprintf(stderr, "luminal: %.*s ..\n", length, stage.data());
  }
  return !interrupted();
}

void Progress::clear() {
  if (!quiet_ && terminal_ && !stage_.empty()) std::fprintf(stderr, "\r\x1b[K");
  stage_.clear();
}

}  // namespace luminal::cli
