// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

extern char** environ;

namespace luminal::text {
namespace {

using Clock = std::chrono::steady_clock;

/// A file descriptor that closes itself.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    return *this;
  }
  ~File() { close(); }
  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_ = -1;
};

Error system_error(const char* what) {
  return error("cannot start a program: ", what, ": ", std::strerror(errno));
}

struct Channel {
  File ours, theirs;
};

// A socket pair rather than a pipe: sending to a child that is gone is an error, not a SIGPIPE.
Result<Channel> make_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return system_error("socketpair");
  Channel channel{File(ends[0]), File(ends[1])};
  // Above the three standard descriptors, which the child's ends are copied onto.
  for (File* file : {&channel.ours, &channel.theirs}) {
    *file = File(::fcntl(file->get(), F_DUPFD_CLOEXEC, 3));
    if (!file->open()) return system_error("fcntl");
  }
  ::fcntl(channel.ours.get(), F_SETFL, O_NONBLOCK);
  return channel;
}

// 0, or the error number of posix_spawn.
int spawn(const std::vector<std::string>& arguments, const std::array<Channel, 3>& channels,
          pid_t& child) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int standard = 0; standard < 3; ++standard) {
    posix_spawn_file_actions_adddup2(
        &actions, channels[static_cast<std::size_t>(standard)].theirs.get(), standard);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int failure = ::posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

enum class Talk { Done, OverTime, TooMuchOutput };

// Reads what is there. False: the stream has ended.
bool drain(File& from, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(from.get(), buffer.data(), buffer.size(), 0);
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

// Feeds the child and reads both its streams until they end.
Talk talk(std::array<Channel, 3>& channels, std::string_view input, const ChildLimits& limits,
          Clock::time_point deadline, ChildOutcome& outcome) {
  File& in = channels[0].ours;
  if (input.empty()) in.close();
  const std::array<std::pair<File*, std::string*>, 2> streams{
      {{&channels[1].ours, &outcome.output}, {&channels[2].ours, &outcome.errors}}};
  while (channels[1].ours.open() || channels[2].ours.open()) {
    // poll passes over the descriptors of closed files, which are negative.
    std::array<pollfd, 3> waiting{{{in.get(), POLLOUT, 0},
                                   {channels[1].ours.get(), POLLIN, 0},
                                   {channels[2].ours.get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Talk::OverTime;
    ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long long>(left, 1000)));
    if (waiting[0].revents != 0) {
      const ssize_t sent = ::send(in.get(), input.data(), input.size(), MSG_NOSIGNAL);
      if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
      const bool gone = sent < 0 && errno != EAGAIN && errno != EINTR;
      if (gone || input.empty()) in.close();
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const auto [file, text] = streams[i];
      if (waiting[i + 1].revents != 0 && !drain(*file, *text)) file->close();
      if (text->size() > limits.output_bytes) return Talk::TooMuchOutput;
    }
  }
  return Talk::Done;
}

// Waits for the child until the deadline. False: it still runs.
bool reap(pid_t child, Clock::time_point deadline, int& status) {
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (ended < 0 && errno != EINTR) {
      status = 0;  // someone else has waited for all children; the output is all there is
      return true;
    }
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<ChildOutcome> run_child(const std::vector<std::string>& arguments, std::string_view input,
                               const ChildLimits& limits) {
  LUM_CHECK(!arguments.empty());
  const Clock::time_point deadline = Clock::now() + limits.time;
  std::array<Channel, 3> channels;
  for (Channel& channel : channels) {
    LUM_ASSIGN_OR_RETURN(channel, make_channel());
  }
  ChildOutcome outcome;
  pid_t child = -1;
  const int failure = spawn(arguments, channels, child);
  if (failure == ENOENT || failure == ENOTDIR || failure == EACCES || failure == ENOEXEC) {
    outcome.end = ChildOutcome::NotFound;
    outcome.code = failure;
    return outcome;
  }
  if (failure != 0) {
    errno = failure;
    return system_error(arguments[0].c_str());
  }
  for (Channel& channel : channels) channel.theirs.close();
  const Talk talked = talk(channels, input, limits, deadline, outcome);
  for (Channel& channel : channels) channel.ours.close();
  int status = 0;
  const bool ended = talked == Talk::Done && reap(child, deadline, status);
  if (!ended) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.end =
        talked == Talk::TooMuchOutput ? ChildOutcome::TooMuchOutput : ChildOutcome::OverTime;
  } else if (WIFSIGNALED(status)) {
    outcome.end = ChildOutcome::Signalled;
    outcome.code = WTERMSIG(status);
  } else {
    outcome.code = WEXITSTATUS(status);
  }
  return outcome;
}

}  // namespace luminal::text
