// SPDX-License-Identifier: MIT OR Apache-2.0
// What a compilation gives and a session runs.
#pragma once

#include "luminal/plan/plan.h"
#include "luminal/target/backend.h"

#include <memory>
#include <vector>

namespace luminal::plan {

/// A program with its plan and the kernel of each of its regions.
struct Executable {
  region::Program program;
  Plan plan;
  std::vector<std::shared_ptr<const target::Kernel>> kernels;
};

}  // namespace luminal::plan
