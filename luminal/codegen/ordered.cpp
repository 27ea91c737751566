// SPDX-License-Identifier: MIT OR Apache-2.0
// What runs along an axis in order: Scan, Sort, and Update of rows that may coincide.
#include "luminal/codegen/emit.h"

#include <algorithm>

namespace luminal::codegen {
namespace {

using region::kLanes;
using region::NodeId;
using region::Region;

void open_loop(Emit& emit, int axis, const std::vector<bool>& wanted) {
  const std::string name = cat("c", axis);
  emit.writer.open("for (long ", name, " = 0; ", name, " < ", emit.extent(axis), "; ++", name, ")");
  emit.body.push();
  emit.body.bind(axis, name);
  emit.body.emit_ready(wanted);
}

void close_loop(Emit& emit) {
  emit.body.pop();
  emit.writer.close();
}

std::string scan_step(const Region& region, const Body& body, const std::string& state) {
  const std::string x = body.text(region.roots[0], false);
  switch (region.scan_op) {
    case ir::ScanOp::Sum: return cat(state, " + ", x);
    case ir::ScanOp::Max: return cat("lum_maximum(", state, ", ", x, ")");
    case ir::ScanOp::Affine: return cat(x, " * ", state, " + ", body.text(region.roots[1], false));
  }
  return {};
}

// The unsigned number that orders as x does: NaN last, -0 as +0.
std::string sort_key(ir::DType dtype, const std::string& x) {
  switch (class_of(dtype)) {
    case Class::F32: return cat("lum_key_f(", x, ")");
    case Class::F64: return cat("lum_key_d(", x, ")");
    case Class::U32: case Class::U64: return cat("(ulong)", x);
    default: return cat("((ulong)(long)", x, " ^ (1ul << 63))");
  }
}

constexpr const char* kSortKeys = R"(
ONE ulong lum_key_f(float x) { uint b = (uint)lum_bits(x);
  if (x != x) return ~0ul; if (x == 0) b = 0; return (b >> 31) ? (ulong)(uint)~b : (ulong)(b | 0x80000000u); }
ONE ulong lum_key_d(double x) { ulong b = (ulong)lum_bits(x);
  if (x != x) return ~0ul; if (x == 0) b = 0; return (b >> 63) ? ~b : b | (1ul << 63); }
)";

}  // namespace

void lower_scan(Emit& emit) {
  const Region& region = emit.region;
  const std::vector<bool> wanted = emit.body.reach(region.roots);
  begin_tasks(emit, output_axes(emit, region.axis), -1, 0);
  emit.body.emit_ready(wanted);
  const Class c = accumulator_class(region);
  const char* type = c_type(c, false);
  Region start = region;
  start.combine = region.scan_op == ir::ScanOp::Max ? ir::Prim::MaxReduce : ir::Prim::SumReduce;
  const std::string state = emit.writer.fresh("state");
  emit.writer.line(type, " ", state, " = ", identity(start, false), ";");
  const bool loops = !emit.unit_axis(region.axis);
  if (loops) open_loop(emit, region.axis, wanted);
  emit.body.emit_ready(wanted);
  emit.writer.line(state, " = ", scan_step(region, emit.body, state), ";");
  emit.body.store(state, false);
  if (loops) close_loop(emit);
  end_tasks(emit);
}

void lower_sort(Emit& emit) {
  const Region& region = emit.region;
  const std::vector<bool> wanted = emit.body.reach(region.roots);
  const NodeId root = region.roots[0];
  const std::int64_t count = std::max<std::int64_t>(emit.extent_bound(region.axis), 1);
  begin_tasks(emit, output_axes(emit, region.axis), -1, 0);
  emit.body.emit_ready(wanted);
  emit.writer.line("ulong* const keys = (ulong*)", emit.scratch(count * 8), ";");
  emit.writer.line("int* const order = (int*)", emit.scratch(count * 4), ";");
  const std::string work = emit.scratch(count * 4);
  const bool loops = !emit.unit_axis(region.axis);
  const std::string position = loops ? cat("c", region.axis) : "0l";
  if (loops) open_loop(emit, region.axis, wanted);
  emit.body.emit_ready(wanted);
  emit.writer.line("keys[", position, "] = ",
                   sort_key(region.nodes[root.index].dtype, emit.body.text(root, false)), ";");
  if (loops) close_loop(emit);
  emit.writer.line("lum_rt_sort(keys, order, ", emit.extent(region.axis), ", ", work, ");");
  const std::vector<bool> nothing(region.nodes.size(), false);
  if (loops) open_loop(emit, region.axis, nothing);
  emit.body.store(cat("order[", position, "]"), false);
  if (loops) close_loop(emit);
  end_tasks(emit);
}

void lower_update(Emit& emit) {
  const Region& region = emit.region;
  std::vector<NodeId> roots = region.roots;
  for (const region::Indirect& indirect : region.indirect) roots.push_back(indirect.node);
  const std::vector<bool> wanted = emit.body.reach(roots);
  std::vector<int> free_axes, loops;
  for (int axis : output_axes(emit, -1)) {
    const bool in_order = std::count(region.ordered_axes.begin(), region.ordered_axes.end(), axis) != 0;
    (in_order ? loops : free_axes).push_back(axis);
  }
  begin_tasks(emit, free_axes, -1, 0);
  emit.body.emit_ready(wanted);
  for (int axis : loops) open_loop(emit, axis, wanted);
  emit.body.emit_ready(wanted);
  if (region.drop_indirect >= 0) {
    const std::string raw = emit.body.indirect_text(region.drop_indirect);
    const std::string limit = emit.body.index_text(region.indirect[region.drop_indirect].limit);
    emit.writer.open("if (", raw, " >= 0 && ", raw, " < ", limit, ")");
  }
  std::string value = emit.body.text(region.roots[0], false);
  const ir::DType dtype = region.buffers.back().dtype;
  if (region.update_mode != ir::ScatterMode::Set) {
    const std::string old = cat("lum_ld_", dtype_name(dtype), "(b", region.output_buffer(), ", ",
                                emit.body.index_text(emit.body.store_offset()), ")");
    value = region.update_mode == ir::ScatterMode::Add ? cat(old, " + ", value)
                                                       : cat("lum_maximum(", old, ", ", value, ")");
  }
  emit.body.store(value, false);
  if (region.drop_indirect >= 0) emit.writer.close();
  for (std::size_t k = 0; k < loops.size(); ++k) close_loop(emit);
  end_tasks(emit);
}

const char* sort_key_functions() { return kSortKeys; }

}  // namespace luminal::codegen
