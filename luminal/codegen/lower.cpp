// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/codegen/lower.h"

#include "luminal/codegen/contract.h"
#include "luminal/codegen/emit.h"

#include <algorithm>
#include <cstdio>

namespace luminal::codegen {
namespace {

using region::Form;
using region::kLanes;
using region::NodeKind;
using region::Region;

constexpr std::int64_t kFewestRows = 8;    // below, a contraction's packing does not pay
constexpr std::int64_t kFewestSteps = 8;

// Cost of reading or writing 16 elements along an axis.
int pattern_cost(Pattern pattern) {
  switch (pattern) {
    case Pattern::Uniform: return 0;
    case Pattern::Unit: return 1;
    case Pattern::Strided: return 16;
    case Pattern::General: return 24;
  }
  return 24;
}

// How dear the axis is as the lane axis; lower is better.
std::int64_t lane_cost(Emit& emit, int axis) {
  const Region& region = emit.region;
  const std::vector<bool> wanted = emit.body.reach(region.roots);
  std::int64_t cost = 0;
  for (std::size_t n = 0; n < region.nodes.size(); ++n) {
    const region::Node& node = region.nodes[n];
    if (!wanted[n]) continue;
    if (node.kind == NodeKind::Load) cost += 4 * pattern_cost(emit.body.pattern(node, axis));
    if (node.kind == NodeKind::Index && (emit.body.axes_of(region::NodeId(n)) >> axis & 1) != 0) cost += 4;
  }
  const bool output = axis < region.output_rank;
  if (region.form == Form::Map) cost += 4 * pattern_cost(emit.body.store_pattern(axis));
  if (region.form == Form::Reduce && !output) cost += 6;  // the lanes must be put together
  return cost;
}

int choose_lane_axis(Emit& emit) {
  int best = -1;
  std::int64_t best_cost = 0, best_extent = 0;
  for (int axis = 0; axis < static_cast<int>(emit.region.axes.size()); ++axis) {
    const std::int64_t extent = emit.extent_bound(axis);
    if (extent < kLanes) continue;
    const std::int64_t cost = lane_cost(emit, axis);
    if (best < 0 || cost < best_cost || (cost == best_cost && extent > best_extent)) {
      best = axis;
      best_cost = cost;
      best_extent = extent;
    }
  }
  return best;
}

// How good the axis is as the columns of a contraction; below 0: not at all.
std::int64_t column_score(Emit& emit, int axis, int* row_axis) {
  if (emit.extent_bound(axis) < kLanes) return -1;
  const std::optional<Contraction> c = as_contraction(emit.region, emit.exprs, emit.body, axis);
  if (!c) return -1;
  std::int64_t rows = emit.extent_bound(c->row_axis), steps = 1;
  for (int other : c->loop_axes) rows = std::min<std::int64_t>(rows * emit.extent_bound(other), 1 << 20);
  for (int other : reduced_axes(emit)) steps = std::min<std::int64_t>(steps * emit.extent_bound(other), 1 << 20);
  if (rows < kFewestRows || steps < kFewestSteps) return -1;
  *row_axis = c->row_axis;
  std::int64_t score = std::min<std::int64_t>(emit.extent_bound(axis), 4096);
  if (c->rows_in_place) score += 100000;
  if (emit.body.store_pattern(axis) == Pattern::Unit) score += 10000;
  return score;
}

void choose_contraction(Emit& emit, Knobs& knobs) {
  std::int64_t best = -1;
  for (int axis = 0; axis < emit.region.output_rank; ++axis) {
    int row_axis = -1;
    const std::int64_t score = column_score(emit, axis, &row_axis);
    if (score <= best) continue;
    best = score;
    knobs.contract = true;
    knobs.column_axis = axis;
    knobs.row_axis = row_axis;
  }
}

}  // namespace

const char* sort_key_functions();

Knobs default_knobs(const Region& region, ir::Exprs& exprs, const Machine& machine) {
  Knobs knobs;
  Emit emit(region, exprs, knobs);
  if (region.form == Form::Map || region.form == Form::Reduce) knobs.lane_axis = choose_lane_axis(emit);
  if (!product_factors(region).empty()) choose_contraction(emit, knobs);
  if (knobs.contract) {
    // Rows * columns accumulators, one panel row and one broadcast must stay in registers.
    knobs.tile_vectors = machine.vector_registers >= 32 ? 4 : machine.vector_registers >= 16 ? 2 : 1;
    const std::int64_t columns = exprs.as_constant(region.axes[knobs.column_axis].extent).value_or(0);
    while (knobs.tile_vectors > 1 && columns > 0 && columns % (knobs.tile_vectors * kLanes) != 0 &&
           columns < 4 * knobs.tile_vectors * kLanes)
      knobs.tile_vectors /= 2;
    knobs.tile_rows = std::max(1, std::min(8, (machine.vector_registers - 2) / knobs.tile_vectors - 1));
  }
  return knobs;
}

KernelText lower(const Region& region, ir::Exprs& exprs, const Knobs& knobs) {
  Emit emit(region, exprs, knobs);
  for (std::size_t b = 0; b < region.buffers.size(); ++b)
    emit.writer.line("char* const b", b, " = b[", b, "];");
  switch (region.form) {
    case Form::Map: lower_map(emit); break;
    case Form::Reduce: knobs.contract ? lower_contract(emit) : lower_reduce(emit); break;
    case Form::Scan: lower_scan(emit); break;
    case Form::Sort: lower_sort(emit); break;
    case Form::Update: lower_update(emit); break;
  }
  std::string text = region.form == Form::Sort ? sort_key_functions() : "";
  text += emit.before.take();
  text += cat("long lum_tasks(const long* s) { return ", emit.tasks, "; }\n");
  text += "void lum_kernel(char* const* b, const long* s, long first, long last, char* scratch) {\n";
  text += emit.writer.take();
  text += "}\n";
  return {std::move(text), emit.scratch_bytes};
}

}  // namespace luminal::codegen
