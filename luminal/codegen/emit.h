// SPDX-License-Identifier: MIT OR Apache-2.0
// What the lowerings of the single forms share: the body writer, the task space, and reductions of lanes.
#pragma once

#include "luminal/codegen/body.h"
#include "luminal/codegen/lower.h"

#include <string>
#include <vector>

namespace luminal::codegen {

struct Emit {
  Emit(const region::Region& region_in, ir::Exprs& exprs_in, const Knobs& knobs_in)
      : region(region_in), exprs(exprs_in), knobs(knobs_in), body(region_in, exprs_in, writer) {}

  const region::Region& region;
  ir::Exprs& exprs;
  const Knobs& knobs;
  Writer before;  ///< functions that the kernel calls
  Writer writer;  ///< the kernel's own body
  Body body;
  std::int64_t scratch_bytes = 0;
  std::string tasks;  ///< C expression of the number of tasks

  std::string extent(int axis) const { return body.index_text(region.axes[axis].extent); }
  bool unit_axis(int axis) const { return exprs.is_constant(region.axes[axis].extent, 1); }
  std::int64_t extent_bound(int axis) const {
    return exprs.interval(region.axes[axis].extent).hi;
  }
  /// A constant extent, or 0.
  std::int64_t constant_extent(int axis) const {
    return exprs.as_constant(region.axes[axis].extent).value_or(0);
  }
  /// Reserves scratch of this worker; gives its C expression.
  std::string scratch(std::int64_t bytes);
};

/// Opens the loop over tasks: one task is one point of `axes` (bound here) and, if `block` > 0, one block of that many
/// coordinates of axis `blocked`: variables `from` and `to` are declared for it. Closed by end_tasks.
struct TaskRange {
  std::string from, to;
};
TaskRange begin_tasks(Emit& emit, const std::vector<int>& axes, int blocked, std::int64_t block);
void end_tasks(Emit& emit);

/// Output axes of extent other than 1, without the given one.
std::vector<int> output_axes(const Emit& emit, int without);
std::vector<int> reduced_axes(const Emit& emit);

/// The start value of a reduction as C text, and one step of it.
std::string identity(const region::Region& region, bool vector);
std::string combine(const region::Region& region, const std::string& a, const std::string& b);
/// The type that the reduction accumulates in.
Class accumulator_class(const region::Region& region);

void lower_map(Emit& emit);
void lower_reduce(Emit& emit);
void lower_contract(Emit& emit);
void lower_scan(Emit& emit);
void lower_sort(Emit& emit);
void lower_update(Emit& emit);

/// The factors of the root's product, flattened; empty if the region is not a float sum of a product.
std::vector<region::NodeId> product_factors(const region::Region& region);

}  // namespace luminal::codegen
