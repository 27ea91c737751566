// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/base/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace luminal {
namespace {

TEST(Team, EveryWorkerRunsOnceACall) {
  for (int count : {1, 2, 5}) {
    Team team(count);
    EXPECT_EQ(team.count(), count);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> runs(static_cast<std::size_t>(count), 0);
      team.run([&](int worker, int workers) {
        EXPECT_EQ(workers, count);
        ++runs[static_cast<std::size_t>(worker)];
      });
      EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST(Team, NoThreadIsMadePerCall) {
  Team team(3);
  std::vector<std::thread::id> first(3), later(3);
  team.run([&](int worker, int) { first[static_cast<std::size_t>(worker)] = std::this_thread::get_id(); });
  team.run([&](int worker, int) { later[static_cast<std::size_t>(worker)] = std::this_thread::get_id(); });
  EXPECT_EQ(first, later);
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), 3u);
}

// What one worker wrote before a barrier, every other reads after it.
TEST(Team, BarrierSeparates) {
  constexpr int kWorkers = 4, kSteps = 300;
  Team team(kWorkers);
  std::vector<std::vector<int>> written(kSteps, std::vector<int>(kWorkers, 0));
  std::atomic<int> wrong{0};
  team.run([&](int worker, int count) {
    for (int step = 0; step < kSteps; ++step) {
      written[static_cast<std::size_t>(step)][static_cast<std::size_t>(worker)] = step + 1;
      team.barrier();
      for (int other = 0; other < count; ++other)
        if (written[static_cast<std::size_t>(step)][static_cast<std::size_t>(other)] != step + 1) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Team, WakesAfterItHasParked) {
  Team team(3);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> runs{0};
    team.run([&](int worker, int) {
      if (worker == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      team.barrier();
      ++runs;
    });
    EXPECT_EQ(runs, 3);
  }
}

TEST(Team, ThereIsACore) { EXPECT_GE(available_cores(), 1); }

}  // namespace
}  // namespace luminal
