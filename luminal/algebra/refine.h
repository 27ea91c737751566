// SPDX-License-Identifier: MIT OR Apache-2.0
// Axis refinement: an axis whose coordinate is divided by a constant is replaced by its factors, major to minor.
#pragma once

#include "luminal/region/region.h"

namespace luminal::algebra {

/// [0, extent-1] of every axis, then [0, limit-1] of every indirect coordinate.
std::vector<ir::Interval> coordinate_ranges(const region::Region& region, const ir::Exprs& exprs);

/// Splits axes until no constant quotient or remainder of one is left that a split could remove. The points of the
/// region, their order along each axis and what they compute stay the same.
void refine_axes(region::Region& region, ir::Exprs& exprs);

}  // namespace luminal::algebra
