// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/child_process.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>
#include <filesystem>
#include <thread>

namespace luminal::text {
namespace {

ChildOutcome run(const std::vector<std::string>& arguments, std::string_view input = "",
                 ChildLimits limits = {}) {
  return run_child(arguments, input, limits).value();
}

ChildOutcome shell(const std::string& script, std::string_view input = "",
                   ChildLimits limits = {}) {
  return run({"/bin/sh", "-c", script}, input, limits);
}

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST(ChildProcess, streams_and_exit_code) {
  const ChildOutcome child = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(child.end, ChildOutcome::Exited);
  EXPECT_EQ(child.code, 7);
  EXPECT_EQ(child.output, "out\n");
  EXPECT_EQ(child.errors, "err\n");
}

TEST(ChildProcess, arguments_are_taken_as_they_are) {
  EXPECT_EQ(run({"printf", "%s|%s", "a b;$HOME", "'\"*"}).output, "a b;$HOME|'\"*");
}

TEST(ChildProcess, much_input_and_output_at_once) {
  std::string text;
  for (int i = 0; text.size() < (std::size_t{3} << 20); ++i) text += std::to_string(i) + " ";
  EXPECT_TRUE(shell("cat", text).output == text);
  EXPECT_TRUE(shell("cat >&2", text).errors == text);
}

TEST(ChildProcess, a_child_that_does_not_read_is_no_broken_pipe) {
  const std::string text(std::size_t{4} << 20, 'x');
  const ChildOutcome child = shell("exec 0<&-; sleep 0.05; echo done", text);
  EXPECT_EQ(child.end, ChildOutcome::Exited);
  EXPECT_EQ(child.output, "done\n");
  EXPECT_EQ(shell("exit 3", text).code, 3);
}

TEST(ChildProcess, limits_of_time_and_size) {
  const auto begin = std::chrono::steady_clock::now();
  ChildOutcome child =
      shell("echo begun; sleep 100 & sleep 100", "", {.time = std::chrono::milliseconds(200)});
  EXPECT_EQ(child.end, ChildOutcome::OverTime);
  EXPECT_EQ(child.output, "begun\n");
  // Also when it closes its streams and stays.
  child = shell("exec >&- 2>&-; sleep 100", "", {.time = std::chrono::milliseconds(200)});
  EXPECT_EQ(child.end, ChildOutcome::OverTime);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  child = shell("yes", "", {.output_bytes = 100000});
  EXPECT_EQ(child.end, ChildOutcome::TooMuchOutput);
  EXPECT_LT(child.output.size(), 300000u);
}

TEST(ChildProcess, signals_and_missing_programs) {
  const ChildOutcome child = shell("kill -9 $$");
  EXPECT_EQ(child.end, ChildOutcome::Signalled);
  EXPECT_EQ(child.code, 9);
  EXPECT_EQ(run({"/nonexistent/program"}).end, ChildOutcome::NotFound);
  EXPECT_EQ(run({"no-such-program-anywhere"}).end, ChildOutcome::NotFound);
}

TEST(ChildProcess, no_descriptor_stays_open_and_none_is_inherited) {
  shell("true");
  const std::size_t before = open_files();
  for (int i = 0; i < 20; ++i) shell("true"), run({"/nonexistent/program"});
  EXPECT_EQ(open_files(), before);
  // Not even one that the program holds open without care: 0, 1, 2 and the listing itself.
  const int careless = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(run({"ls", "/proc/self/fd"}).output, "0\n1\n2\n3\n");
  ::close(careless);
}

TEST(ChildProcess, threads_at_once) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&, i] { outputs[i] = shell("cat", std::to_string(i)).output; });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], std::to_string(i));
}

}  // namespace
}  // namespace luminal::text
