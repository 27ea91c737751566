// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/region/region.h"

#include <sstream>

namespace luminal::region {
namespace {

using ir::ExprKind;
using ir::Exprs;

Status check_node(const Region& region, std::size_t number) {
  const Node& node = region.nodes[number];
  for (NodeId operand : node.operands)
    if (operand.index >= number) return error("node ", number, ": operand ", operand, " comes later");
  switch (node.kind) {
    case NodeKind::Load: {
      if (node.buffer < 0 || node.buffer >= region.output_buffer())
        return error("node ", number, ": buffer ", node.buffer, " is not an input");
      const Buffer& buffer = region.buffers[node.buffer];
      if (buffer.shape.size() != node.index.size())
        return error("node ", number, ": ", node.index.size(), " indices into a buffer of rank ",
                     buffer.shape.size());
      if (buffer.dtype != node.dtype) return error("node ", number, ": dtype is not its buffer's");
      return {};
    }
    case NodeKind::Index:
      if (node.index.size() != 1) return error("node ", number, ": an index has one expression");
      return {};
    case NodeKind::Map:
      if (ir::prim_info(node.prim).family != ir::Family::Map ||
          ir::prim_info(node.prim).arity != static_cast<int>(node.operands.size()))
        return error("node ", number, ": ", ir::prim_info(node.prim).name, " with ",
                     node.operands.size(), " operands");
      return {};
    case NodeKind::Constant: return {};
  }
  return {};
}

void print_node(std::ostream& out, const Region& region, const Node& node, const Exprs& exprs) {
  auto show = [&](ExprId id) { return exprs.print(id); };
  auto name = [](NodeId id) { return cat("%", id); };
  switch (node.kind) {
    case NodeKind::Constant: out << "const 0x" << std::hex << node.bits << std::dec; break;
    case NodeKind::Index: out << "index " << show(node.index[0]); break;
    case NodeKind::Load: out << "load " << node.buffer << "[" << join(node.index, ", ", show) << "]"; break;
    case NodeKind::Map:
      out << ir::prim_info(node.prim).name << "(" << join(node.operands, ", ", name) << ")";
      break;
  }
  out << " : " << ir::dtype_name(node.dtype);
  (void)region;
}

constexpr const char* kFormNames[] = {"map", "reduce", "scan", "sort", "update"};

}  // namespace

std::uint64_t expr_axes(const Region& region, const Exprs& exprs, ExprId expr,
                        const std::vector<std::uint64_t>& nodes) {
  std::uint64_t axes = 0;
  std::vector<ExprId> open = {expr};
  while (!open.empty()) {
    const ir::ExprNode& node = exprs.node(open.back());
    open.pop_back();
    if (node.kind == ExprKind::Const || node.kind == ExprKind::Symbol) continue;
    if (node.kind != ExprKind::Coord) {
      open.push_back(node.a);
      open.push_back(node.b);
    } else if (node.value < static_cast<std::int64_t>(region.axes.size())) {
      axes |= std::uint64_t{1} << node.value;
    } else {
      axes |= nodes[region.indirect[node.value - region.axes.size()].node.index];
    }
  }
  return axes;
}

std::vector<std::uint64_t> node_axes(const Region& region, const Exprs& exprs) {
  LUM_CHECK(region.axes.size() <= 64, "a region of ", region.axes.size(), " axes");
  std::vector<std::uint64_t> axes(region.nodes.size(), 0);
  for (std::size_t n = 0; n < region.nodes.size(); ++n) {
    for (NodeId operand : region.nodes[n].operands) axes[n] |= axes[operand.index];
    for (ExprId index : region.nodes[n].index) axes[n] |= expr_axes(region, exprs, index, axes);
  }
  return axes;
}

Status verify(const Region& region, const Exprs& exprs) {
  if (region.buffers.empty()) return error("region without an output buffer");
  if (region.axes.size() > 64) return error("region of ", region.axes.size(), " axes, 64 at most");
  for (std::size_t n = 0; n < region.nodes.size(); ++n)
    LUM_RETURN_IF_ERROR(check_node(region, n));
  const std::size_t roots = region.form == Form::Scan && region.scan_op == ir::ScanOp::Affine ? 2 : 1;
  if (region.roots.size() != roots) return error("region with ", region.roots.size(), " roots");
  if (region.store.size() != region.buffers.back().shape.size())
    return error("region stores at ", region.store.size(), " indices in a tensor of rank ",
                 region.buffers.back().shape.size());
  for (const Axis& axis : region.axes)
    if (!exprs.is_uniform(axis.extent)) return error("an extent depends on a coordinate");
  return {};
}

std::string print(const Region& region, const Exprs& exprs) {
  std::ostringstream out;
  auto show = [&](ExprId id) { return exprs.print(id); };
  auto extent = [&](const Axis& axis) { return exprs.print(axis.extent); };
  out << kFormNames[static_cast<int>(region.form)];
  if (region.form == Form::Reduce) out << " " << ir::prim_info(region.combine).name;
  if (region.form == Form::Scan) out << " op " << static_cast<int>(region.scan_op);
  if (region.form == Form::Update) out << " mode " << static_cast<int>(region.update_mode);
  if (region.form == Form::Scan || region.form == Form::Sort) out << " axis " << region.axis;
  out << "\naxes [" << join(region.axes, ", ", extent) << "] output " << region.output_rank << "\n";
  for (std::size_t b = 0; b < region.buffers.size(); ++b) {
    const Buffer& buffer = region.buffers[b];
    out << "buffer " << b << " " << ir::dtype_name(buffer.dtype) << "["
        << join(buffer.shape, ", ", show) << "]";
    if (buffer.layout.lane_axis >= 0) out << " lanes " << buffer.layout.lane_axis;
    out << "\n";
  }
  for (std::size_t n = 0; n < region.nodes.size(); ++n) {
    out << "%" << n << " = ";
    print_node(out, region, region.nodes[n], exprs);
    out << "\n";
  }
  for (std::size_t k = 0; k < region.indirect.size(); ++k)
    out << "c" << region.axes.size() + k << " = %" << region.indirect[k].node << " below "
        << show(region.indirect[k].limit) << "\n";
  out << "store [" << join(region.store, ", ", show) << "] = "
      << join(region.roots, ", ", [](NodeId id) { return cat("%", id); });
  if (region.ordered) out << " in order of axes [" << join(region.ordered_axes) << "]";
  if (region.drop_indirect >= 0) out << " drop " << region.drop_indirect;
  out << "\n";
  return std::move(out).str();
}

}  // namespace luminal::region
