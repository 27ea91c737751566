// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/codegen/body.h"

#include <algorithm>
#include <cmath>

namespace luminal::codegen {
namespace {

using ir::DType;
using ir::ExprId;
using ir::ExprKind;
using ir::Prim;
using region::kLanes;
using region::Node;
using region::NodeId;
using region::NodeKind;

std::string replace_operands(std::string_view spelling, const std::vector<std::string>& operands) {
  std::string out;
  for (std::size_t i = 0; i < spelling.size(); ++i) {
    if (spelling[i] == '$')
      out += operands.at(static_cast<std::size_t>(spelling[++i] - '0'));
    else
      out += spelling[i];
  }
  return out;
}

// 2^bits as a C floating literal that is exact in float and double.
std::string power_literal(int exponent, bool negative, Class c) {
  return cat(negative ? "-0x1p" : "0x1p", exponent, c == Class::F32 ? "f" : "");
}

}  // namespace

Body::Body(const region::Region& region, ir::Exprs& exprs, Writer& writer)
    : region_(region),
      exprs_(exprs),
      writer_(writer),
      axes_(node_axes(region, exprs)),
      written_(region.nodes.size()),
      vector_(region.nodes.size(), false),
      coords_(region.axes.size()) {
  auto push_range = [&](ExprId extent) {
    ranges_.push_back({0, std::max<std::int64_t>(exprs.interval(extent).hi - 1, 0)});
  };
  for (const region::Axis& axis : region.axes) push_range(axis.extent);
  for (const region::Indirect& indirect : region.indirect) push_range(indirect.limit);
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis)
    if (exprs.is_constant(region.axes[axis].extent, 1)) bind(static_cast<int>(axis), "0l");
}

void Body::push() { marks_.push_back(undo_.size()); }

void Body::pop() {
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  while (undo_.size() > mark) {
    Undo& undo = undo_.back();
    switch (undo.kind) {
      case Undo::Written: written_[undo.number].clear(); break;
      case Undo::Bound:
        coords_[undo.number] = undo.text;
        if (undo.text.empty()) bound_ &= ~(std::uint64_t{1} << undo.number);
        break;
      case Undo::Lanes:
        lane_axis_ = undo.number;
        lanes_ = undo.lanes;
        break;
    }
    undo_.pop_back();
  }
}

void Body::bind(int axis, std::string coordinate) {
  undo_.push_back({Undo::Bound, axis, coords_[axis], 0});
  coords_[axis] = std::move(coordinate);
  bound_ |= std::uint64_t{1} << axis;
}

void Body::bind_lanes(int axis, std::string coordinate, int lanes) {
  undo_.push_back({Undo::Lanes, lane_axis_, "", lanes_});
  lane_axis_ = axis;
  lanes_ = lanes;
  bind(axis, std::move(coordinate));
}

std::uint64_t Body::axes_of(ExprId expr) const { return expr_axes(region_, exprs_, expr, axes_); }

std::vector<bool> Body::reach(const std::vector<NodeId>& roots) const {
  std::vector<bool> reached(region_.nodes.size(), false);
  for (NodeId root : roots) reached[root.index] = true;
  const int axis_count = static_cast<int>(region_.axes.size());
  for (std::size_t n = region_.nodes.size(); n-- > 0;) {
    if (!reached[n]) continue;
    for (NodeId operand : region_.nodes[n].operands) reached[operand.index] = true;
    for (ExprId index : region_.nodes[n].index)
      for (std::size_t k = 0; k < region_.indirect.size(); ++k)
        if (exprs_.depends_on_coord(index, axis_count + static_cast<int>(k)))
          reached[region_.indirect[k].node.index] = true;
  }
  return reached;
}

void Body::emit_ready(const std::vector<bool>& wanted) {
  for (std::size_t n = 0; n < region_.nodes.size(); ++n)
    if (wanted[n] && written_[n].empty() && (axes_[n] & ~bound_) == 0) emit(n);
}

void Body::emit(std::size_t number) {
  const Node& node = region_.nodes[number];
  const bool vector = lanes_ > 1 && (axes_[number] >> lane_axis_ & 1) != 0;
  const Class c = class_of(node.dtype);
  std::string value;
  switch (node.kind) {
    case NodeKind::Constant: value = literal(node.dtype, node.bits); break;
    case NodeKind::Load: value = load_text(node, vector); break;
    case NodeKind::Map: value = map_text(node, vector); break;
    case NodeKind::Index: {
      std::string call = cat("lum_cvt_l_", suffix(c), "(", print_expr(node.index[0], vector ? "l" : ""), ")");
      if (narrower_than_class(node.dtype))
        call = cat("lum_r_", dtype_name(node.dtype), "(", call, ")");
      value = vector ? each_lane(c, call) : call;
      break;
    }
  }
  if (node.kind != NodeKind::Constant) {
    const std::string name = writer_.fresh("v");
    writer_.line("const ", c_type(c, vector), " ", name, " = ", value, ";");
    value = name;
  }
  written_[number] = value;
  vector_[number] = vector;
  undo_.push_back({Undo::Written, static_cast<int>(number), "", 0});
}

bool Body::is_vector(NodeId node) const { return vector_[node.index]; }

std::string Body::text(NodeId node, bool as_vector) const {
  const std::string& name = written_[node.index];
  LUM_CHECK(!name.empty(), "node ", node, " is used before it is written");
  if (!as_vector || vector_[node.index]) return name;
  return cat("((", c_type(class_of(region_.nodes[node.index].dtype), true), ")(", name, "))");
}

std::string Body::map_text(const Node& node, bool vector) const {
  if (node.prim == Prim::Cast || node.prim == Prim::Bitcast) return cast_text(node, vector);
  std::vector<std::string> operands;
  for (NodeId operand : node.operands) operands.push_back(text(operand, vector));
  std::string value = replace_operands(ir::prim_info(node.prim).c_spelling, operands);
  if (narrower_than_class(node.dtype)) value = cat("lum_r_", dtype_name(node.dtype), "(", value, ")");
  return value;
}

std::string Body::cast_text(const Node& node, bool vector) const {
  const DType from = region_.nodes[node.operands[0].index].dtype, to = node.dtype;
  const std::string value = text(node.operands[0], vector);
  if (node.prim == Prim::Bitcast)
    return cat("lum_dec_", dtype_name(to), "(lum_enc_", dtype_name(from), "(", value, "))");
  const Class source = class_of(from), target = class_of(to);
  if (to == DType::Bool) return cat("lum_nonzero(", value, ")");
  std::string out;
  if (ir::is_float(from) && !ir::is_float(to)) {
    const bool is_signed = ir::dtype_info(to).kind == ir::NumberKind::Signed;
    const int top = ir::dtype_bits(to) - (is_signed ? 1 : 0);
    const std::string high = power_literal(top, false, source);
    const std::string low = is_signed ? power_literal(top, true, source) : "0";
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - ir::dtype_bits(to));
    const std::string max = literal(to, is_signed ? all >> 1 : all);
    const std::string min = literal(to, is_signed ? (all >> 1) + 1 : 0);
    return cat("lum_saturate_", suffix(source), "_", suffix(target), "(", value, ", ", low, ", ", high,
               ", ", min, ", ", max, ")");
  }
  out = source == target ? value : cat("lum_cvt_", suffix(source), "_", suffix(target), "(", value, ")");
  const bool exact = from == to || (ir::is_integer(to) && from == DType::Bool);
  if (narrower_than_class(to) && !exact) out = cat("lum_r_", dtype_name(to), "(", out, ")");
  return out;
}

std::string Body::each_lane(Class c, const std::string& scalar_call) {
  const std::string name = writer_.fresh("a");
  writer_.line(c_type(c, false), " ", name, "[", kLanes, "] __attribute__((aligned(64)));");
  writer_.line("for (int l = 0; l < ", kLanes, "; ++l) ", name, "[l] = ", scalar_call, ";");
  return cat("*(const ", c_type(c, true), "*)", name);
}

ExprId Body::load_offset(const Node& node) {
  const region::Buffer& buffer = region_.buffers[node.buffer];
  return exprs_.simplify(element_offset(exprs_, buffer.shape, buffer.layout, node.index), ranges_);
}

ExprId Body::store_offset() {
  const region::Buffer& buffer = region_.buffers.back();
  return exprs_.simplify(element_offset(exprs_, buffer.shape, buffer.layout, region_.store), ranges_);
}

std::string Body::load_text(const Node& node, bool vector) {
  if (region_.buffers[node.buffer].layout.lane_axis >= 0) return lanes_text(node, vector);
  const ExprId offset = load_offset(node);
  const std::string_view type = dtype_name(node.dtype);
  if (!vector) return cat("lum_ld_", type, "(b", node.buffer, ", ", index_text(offset), ")");
  const Pattern along = offset_pattern(offset, lane_axis_);
  if (along == Pattern::Unit)
    return cat("lum_ldv_", type, "(b", node.buffer, ", ", index_text(offset), ")");
  return each_lane(class_of(node.dtype),
                   cat("lum_ld_", type, "(b", node.buffer, ", ", print_expr(offset, "l"), ")"));
}

// A load from a weight in lane layout: a whole lane group when the kernel's lanes are the layout's.
std::string Body::lanes_text(const Node& node, bool vector) {
  const std::string_view type = dtype_name(node.dtype);
  const ExprId group = load_offset(node);
  const ExprId index = node.index[region_.buffers[node.buffer].layout.lane_axis];
  if (vector && pattern(node, lane_axis_) == Pattern::Unit)
    return cat("lum_ldgv_", type, "(b", node.buffer, ", ", index_text(group), ")");
  const std::string add = vector ? "l" : "";
  const ExprId lane = exprs_.simplify(exprs_.mod(index, exprs_.constant(kLanes)), ranges_);
  const std::string call = cat("lum_ldg_", type, "(b", node.buffer, ", ", print_expr(group, add),
                               ", ", print_expr(lane, add), ")");
  return vector ? each_lane(class_of(node.dtype), call) : call;
}

std::int64_t Body::step_along(ExprId offset, int axis) const {
  for (const auto& [term, step] : exprs_.linear(offset).terms) {
    const ir::ExprNode& node = exprs_.node(term);
    if (node.kind == ExprKind::Coord && node.value == axis) return step;
  }
  return 0;
}

Pattern Body::offset_pattern(ExprId offset, int axis) const {
  if ((axes_of(offset) >> axis & 1) == 0) return Pattern::Uniform;
  std::int64_t step = 0;
  for (const auto& [term, factor] : exprs_.linear(offset).terms) {
    const ir::ExprNode& node = exprs_.node(term);
    if (node.kind == ExprKind::Coord && node.value == axis)
      step = factor;
    else if ((axes_of(term) >> axis & 1) != 0)
      return Pattern::General;
  }
  return step == 1 ? Pattern::Unit : Pattern::Strided;
}

Pattern Body::pattern(const Node& load, int axis) {
  const region::Buffer& buffer = region_.buffers[load.buffer];
  if (buffer.layout.lane_axis < 0) return offset_pattern(load_offset(load), axis);
  bool others = false;
  for (std::size_t k = 0; k < load.index.size(); ++k)
    if (static_cast<int>(k) != buffer.layout.lane_axis)
      others |= (axes_of(load.index[k]) >> axis & 1) != 0;
  const ExprId index = load.index[buffer.layout.lane_axis];
  const Pattern along = offset_pattern(index, axis);
  if (along == Pattern::Uniform && !others) return Pattern::Uniform;
  if (along != Pattern::Unit || others) return Pattern::General;
  const ir::Exprs::Linear form = exprs_.linear(index);
  bool aligned = form.constant % kLanes == 0;
  for (const auto& [term, step] : form.terms) {
    const ir::ExprNode& node = exprs_.node(term);
    const bool lane = node.kind == ExprKind::Coord && node.value == axis;
    aligned &= lane || step % kLanes == 0;
  }
  return aligned ? Pattern::Unit : Pattern::General;
}

Pattern Body::store_pattern(int axis) { return offset_pattern(store_offset(), axis); }

void Body::store(const std::string& value, bool vector) {
  store_to(cat("b", region_.output_buffer()), region_.buffers.back().dtype, store_offset(), value,
           vector);
}

void Body::store_to(const std::string& base, DType dtype, ExprId offset, const std::string& value,
                    bool vector) {
  const std::string_view type = dtype_name(dtype);
  if (!vector) {
    writer_.line("lum_st_", type, "(", base, ", ", index_text(offset), ", ", value, ");");
  } else if (offset_pattern(offset, lane_axis_) == Pattern::Unit) {
    writer_.line("lum_stv_", type, "(", base, ", ", index_text(offset), ", ", value, ");");
  } else {
    const std::string name = writer_.fresh("a");
    const Class c = class_of(dtype);
    writer_.line(c_type(c, false), " ", name, "[", kLanes, "] __attribute__((aligned(64)));");
    writer_.line("*(", c_type(c, true), "*)", name, " = ", value, ";");
    writer_.line("for (int l = 0; l < ", kLanes, "; ++l) lum_st_", type, "(", base, ", ",
                 print_expr(offset, "l"), ", ", name, "[l]);");
  }
}

std::string Body::index_text(ExprId expr) const { return print_expr(expr, ""); }

std::string Body::indirect_text(int number) const {
  return cat("((long)", text(region_.indirect[number].node, false), ")");
}

std::string Body::print_expr(ExprId expr, const std::string& lane_add) const {
  const ir::ExprNode& node = exprs_.node(expr);
  const int axis_count = static_cast<int>(region_.axes.size());
  auto operand = [&](ExprId id) { return print_expr(id, lane_add); };
  auto call = [&](const char* function) {
    return cat(function, "(", operand(node.a), ", ", operand(node.b), ")");
  };
  const bool natural = exprs_.interval(expr, ranges_).lo >= 0 &&
                       (node.kind != ExprKind::FloorDiv && node.kind != ExprKind::Mod
                            ? true
                            : exprs_.interval(node.a, ranges_).lo >= 0);
  switch (node.kind) {
    case ExprKind::Const: return cat(node.value, "l");
    case ExprKind::Symbol: return cat("s[", node.value, "]");
    case ExprKind::Add: return cat("(", operand(node.a), " + ", operand(node.b), ")");
    case ExprKind::Mul: return cat("(", operand(node.a), " * ", operand(node.b), ")");
    case ExprKind::FloorDiv:
      return natural ? cat("(", operand(node.a), " / ", operand(node.b), ")") : call("lum_floordiv");
    case ExprKind::Mod:
      return natural ? cat("(", operand(node.a), " % ", operand(node.b), ")") : call("lum_floormod");
    case ExprKind::Min: return call("lum_lmin");
    case ExprKind::Max: return call("lum_lmax");
    case ExprKind::Coord: break;
  }
  if (node.value >= axis_count) {
    const region::Indirect& indirect = region_.indirect[node.value - axis_count];
    const bool vector = vector_[indirect.node.index];
    LUM_CHECK(!vector || !lane_add.empty(), "an index per lane where one is wanted");
    return cat("lum_clamp((long)", text(indirect.node, false), vector ? "[l]" : "", ", ",
               operand(indirect.limit), ")");
  }
  const std::string& coordinate = coords_[node.value];
  LUM_CHECK(!coordinate.empty(), "axis ", node.value, " is used before it is bound");
  if (node.value == lane_axis_ && !lane_add.empty()) return cat("(", coordinate, " + ", lane_add, ")");
  return coordinate;
}

}  // namespace luminal::codegen
