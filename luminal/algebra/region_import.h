// SPDX-License-Identifier: MIT OR Apache-2.0
// From one stored value of a graph to its region: everything between it and the stored values that it reads is inlined
// by composing index maps. Axes are named by the root's coordinates (elementwise use, reduction, expand and permute
// thus share names), and refined: an axis that is only read in quotients and remainders (a split or merged axis) is
// replaced by its factors, so that heads, rotary halves and quantisation blocks are plain axes.
#pragma once

#include "luminal/algebra/storage_choice.h"
#include "luminal/region/region.h"

#include <vector>

namespace luminal::algebra {

struct ImportedRegion {
  region::Region region;
  std::vector<ir::ValueId> reads;  ///< the value behind each input buffer of the region
};

/// `exprs` is a copy of the graph's pool that the program keeps. With `copy` the root is only read (an Input or a
/// stored value that is an output under another name).
ImportedRegion import_region(const ir::Graph& graph, const StorageChoice& choice, ir::Exprs& exprs,
                             ir::ValueId root, bool copy);

}  // namespace luminal::algebra
