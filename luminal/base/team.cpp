// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/base/team.h"

#include "luminal/base/check.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace luminal {
namespace {

constexpr int kSpins = 4000;       // of a pause each: some 50 us, longer than the gap between two kernels
constexpr int kFewSpins = 200;     // where workers share cores, spinning holds up the one that is waited for

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns when `word` no longer holds `old`.
void wait_change(const std::atomic<std::uint32_t>& word, std::uint32_t old, int spins) {
  for (int k = 0; k < spins; ++k) {
    if (word.load(std::memory_order_acquire) != old) return;
    pause();
  }
  word.wait(old, std::memory_order_acquire);
}

}  // namespace

struct alignas(64) Team::Impl {
  explicit Impl(int workers) : count(workers), spins(workers <= available_cores() ? kSpins : kFewSpins) {
    for (int worker = 1; worker < count; ++worker)
      threads.emplace_back([this, worker] { serve(worker); });
  }

  ~Impl() {
    stopping = true;
    start();
    for (std::thread& thread : threads) thread.join();
  }

  void start() {
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
  }

  void serve(int worker) {
    std::uint32_t seen = 0;
    while (true) {
      wait_change(round, seen, spins);
      ++seen;
      if (stopping) return;
      (*work)(worker, count);
      meet();
    }
  }

  // The last to come opens the gate for the others.
  void meet() {
    const std::uint32_t phase = gate.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(count)) {
      arrived.store(0, std::memory_order_relaxed);
      gate.fetch_add(1, std::memory_order_release);
      gate.notify_all();
    } else {
      wait_change(gate, phase, spins);
    }
  }

  const int count;
  const int spins;
  const FunctionRef<void(int, int)>* work = nullptr;
  bool stopping = false;
  alignas(64) std::atomic<std::uint32_t> round{0};
  alignas(64) std::atomic<std::uint32_t> arrived{0};
  alignas(64) std::atomic<std::uint32_t> gate{0};
  std::vector<std::thread> threads;
};

Team::Team(int count) : impl_(std::make_unique<Impl>(count)) { LUM_CHECK(count >= 1); }

Team::~Team() = default;

int Team::count() const { return impl_->count; }

void Team::run(FunctionRef<void(int worker, int count)> work) {
  Impl& team = *impl_;
  if (team.count > 1) {
    team.work = &work;
    team.start();
  }
  work(0, team.count);
  if (team.count > 1) team.meet();
}

void Team::barrier() {
  if (impl_->count > 1) impl_->meet();
}

namespace {

// Cores that a control group grants, from "quota period" in microseconds; none without a limit.
std::optional<int> quota_cores(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>(std::max<std::int64_t>(1, (quota + period - 1) / period));
}

std::optional<int> group_cores() {
  std::ifstream unified("/sys/fs/cgroup/cpu.max");
  std::string quota;
  std::int64_t period = 0, number = 0;
  if (unified >> quota >> period)
    return quota == "max" ? std::nullopt : quota_cores(std::atoll(quota.c_str()), period);
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> number && period_file >> period) return quota_cores(number, period);
  return std::nullopt;
}

}  // namespace

int available_cores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) cores = CPU_COUNT(&mask);
  if (const auto granted = group_cores()) cores = std::min(cores, *granted);
  return std::max(cores, 1);
}

}  // namespace luminal
