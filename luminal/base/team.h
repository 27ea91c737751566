// SPDX-License-Identifier: MIT OR Apache-2.0
// A team of workers: one call runs one function on all of them. Workers spin for a short while between calls and then
// park; no thread is ever made per call. The caller is worker 0.
//
//   Team team(4);
//   team.run([&](int worker, int count) {
//     part_one(worker, count);
//     team.barrier();           // all of them
//     part_two(worker, count);
//   });
#pragma once

#include "luminal/base/function_ref.h"

#include <memory>

namespace luminal {

class Team {
 public:
  /// `count` >= 1 workers, the caller among them.
  explicit Team(int count);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int count() const;
  /// Returns when all workers have returned. Calls must not overlap or nest.
  void run(FunctionRef<void(int worker, int count)> work);
  /// Inside run(): returns when every worker of the team has called it. Workers call it equally often.
  void barrier();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Cores that this process may run on, by its affinity mask and its control group's quota; at least 1.
int available_cores();

}  // namespace luminal
