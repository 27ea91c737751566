// SPDX-License-Identifier: MIT OR Apache-2.0
// The fixed cover: HLIR to a program of regions with no search. Reductions, scans, sorts, scatters and outputs are
// stored; everything pointwise is inlined into its consumers through Views and Gathers, except where that would
// repeat work: a value with several consumers, or one that a consumer reads many times (broadcast into a reduction),
// is stored when its arithmetic costs more than its storage. Values made of weights alone (dequantisation) are never
// stored: no weight takes more memory than its file. It is the baseline that search must beat, and the fallback.
#pragma once

#include "luminal/ir/graph.h"
#include "luminal/region/program.h"

#include <map>
#include <string>

namespace luminal::algebra {

/// Weight name -> layout. Chosen once for a model, shared by all of its programs.
using WeightLayouts = std::map<std::string, region::Layout>;

/// The program of `graph`, with weights dense. `graph` must verify.
Result<region::Program> fixed_cover(const ir::Graph& graph);

/// The layout in which each weight is read best: lanes along the axis that is an output axis of the contractions that
/// read it and that no activation has; fields narrower than a byte always in lanes (dense would widen them).
WeightLayouts choose_layouts(const region::Program& program);

/// Puts the layouts into the program's buffers and regions.
void apply_layouts(region::Program& program, const WeightLayouts& layouts);

}  // namespace luminal::algebra
