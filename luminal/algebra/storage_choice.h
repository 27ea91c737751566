// SPDX-License-Identifier: MIT OR Apache-2.0
// Which values of a graph the fixed cover stores, by counting what inlining would repeat.
#pragma once

#include "luminal/ir/graph.h"

#include <vector>

namespace luminal::algebra {

struct StorageChoice {
  std::vector<ir::ValueId> same_as;  ///< the first value that computes the same (itself mostly)
  std::vector<bool> stored;          ///< has a buffer written by a step of its own
  std::vector<bool> used;            ///< reaches an output
};

StorageChoice choose_storage(const ir::Graph& graph);

}  // namespace luminal::algebra
