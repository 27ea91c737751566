// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/codegen/emit.h"

#include <cmath>

namespace luminal::codegen {

using ir::DType;
using ir::Prim;
using region::NodeId;
using region::Region;

std::string Emit::scratch(std::int64_t bytes) {
  const std::int64_t at = scratch_bytes;
  scratch_bytes += (bytes + 63) / 64 * 64;
  return cat("(scratch + ", at, "l)");
}

TaskRange begin_tasks(Emit& emit, const std::vector<int>& axes, int blocked, std::int64_t block) {
  Writer& out = emit.writer;
  emit.tasks = "1l";
  for (int axis : axes) emit.tasks = cat(emit.tasks, " * ", emit.extent(axis));
  std::string blocks;
  if (block > 0) {
    blocks = cat("((", emit.extent(blocked), " + ", block - 1, "l) / ", block, "l)");
    emit.tasks = cat(emit.tasks, " * ", blocks);
  }
  out.open("for (long task = first; task < last; ++task)");
  emit.body.push();
  out.line("long rest = task;");
  TaskRange range;
  if (block > 0) {
    range = {out.fresh("from"), out.fresh("to")};
    out.line("const long ", range.from, " = rest % ", blocks, " * ", block, "l; rest /= ", blocks, ";");
    out.line("const long ", range.to, " = lum_lmin(", range.from, " + ", block, "l, ",
             emit.extent(blocked), ");");
  }
  for (std::size_t k = axes.size(); k-- > 0;) {
    const std::string name = cat("c", axes[k]);
    const std::string extent = emit.extent(axes[k]);
    if (k == 0)
      out.line("const long ", name, " = rest;");
    else
      out.line("const long ", name, " = rest % ", extent, "; rest /= ", extent, ";");
  }
  for (int axis : axes) emit.body.bind(axis, cat("c", axis));
  return range;
}

void end_tasks(Emit& emit) {
  emit.body.pop();
  emit.writer.close();
}

std::vector<int> output_axes(const Emit& emit, int without) {
  std::vector<int> axes;
  for (int axis = 0; axis < emit.region.output_rank; ++axis)
    if (axis != without && !emit.unit_axis(axis)) axes.push_back(axis);
  return axes;
}

std::vector<int> reduced_axes(const Emit& emit) {
  std::vector<int> axes;
  for (int axis = emit.region.output_rank; axis < static_cast<int>(emit.region.axes.size()); ++axis)
    if (!emit.unit_axis(axis)) axes.push_back(axis);
  return axes;
}

Class accumulator_class(const Region& region) {
  return class_of(region.nodes[region.roots[0].index].dtype);
}

std::string identity(const Region& region, bool vector) {
  const DType dtype = region.nodes[region.roots[0].index].dtype;
  const Class c = class_of(dtype);
  std::string value = "0";
  if (region.combine == Prim::MaxReduce) {
    if (ir::is_float(dtype)) {
      // Formats without infinity start at their lowest finite number.
      const bool has_infinity = ir::dtype_info(dtype).specials == ir::Specials::Ieee;
      const int top_bit = ir::dtype_bits(dtype) - 1;
      const std::uint64_t all = (std::uint64_t{1} << top_bit) - 1;
      const std::uint64_t lowest =
          (std::uint64_t{1} << top_bit) |
          (ir::dtype_info(dtype).specials == ir::Specials::NanOnly ? all - 1 : all);
      value = has_infinity ? literal(dtype, ir::encode(dtype, -INFINITY)) : literal(dtype, lowest);
      if (dtype == DType::F8E8M0) value = literal(dtype, 0);
    } else {
      const bool is_signed = ir::dtype_info(dtype).kind == ir::NumberKind::Signed;
      value = literal(dtype, is_signed ? std::uint64_t{1} << (ir::dtype_bits(dtype) - 1) : 0);
    }
  }
  return cat("(", c_type(c, vector), ")(", value, ")");
}

std::string combine(const Region& region, const std::string& a, const std::string& b) {
  if (region.combine == Prim::MaxReduce) return cat("lum_maximum(", a, ", ", b, ")");
  return cat(a, " + ", b);
}

std::vector<NodeId> product_factors(const Region& region) {
  const DType dtype = region.nodes[region.roots[0].index].dtype;
  if (region.form != region::Form::Reduce || region.combine != Prim::SumReduce ||
      dtype != DType::F32)
    return {};
  std::vector<NodeId> factors, open = {region.roots[0]};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const region::Node& node = region.nodes[id.index];
    if (node.kind == region::NodeKind::Map && node.prim == Prim::Mul && node.dtype == dtype) {
      open.push_back(node.operands[1]);
      open.push_back(node.operands[0]);
    } else {
      factors.push_back(id);
    }
  }
  return factors;
}

}  // namespace luminal::codegen
