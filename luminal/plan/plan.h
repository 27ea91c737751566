// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory and synchronisation of a program: which tensors share a slab of memory and where, which updates happen in
// place, and between which steps all workers must meet. Sizes are upper bounds over the symbols' ranges, so one plan
// serves every run.
//
// Invariants: tensors that are alive at the same step never overlap; a step never reads memory that it writes, except
// an update its destination; offsets are multiples of 64 bytes.
#pragma once

#include "luminal/region/program.h"

#include <cstdint>
#include <vector>

namespace luminal::plan {

enum class Place : std::uint8_t {
  Outside,  ///< Input, Weight, State, Constant: the session has it
  Slab,     ///< at `offset` of the slab
  Alias,    ///< in the memory of `root`, a State that this program updates in place
};

struct Placement {
  Place place = Place::Outside;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;    ///< upper bound of its size
  region::BufferId root;     ///< the tensor whose memory it is: itself, or the first destination of its updates
};

struct PlannedStep {
  bool copy_dest = false;       ///< the destination is copied to the output before the update
  bool meet_before = false;     ///< all workers must have finished the earlier steps
};

struct Plan {
  Store<region::BufferId, Placement> placements;
  std::vector<PlannedStep> steps;
  /// Outputs (numbers into Program::outputs) whose value must be copied into their State after the last step.
  std::vector<int> state_copies;
  std::int64_t slab_bytes = 0;
  std::int64_t lower_bound_bytes = 0;  ///< the most that is alive at one step: no plan can need less
};

/// Fails when a tensor's size has no bound or overflows.
Result<Plan> make_plan(region::Program& program);

}  // namespace luminal::plan
