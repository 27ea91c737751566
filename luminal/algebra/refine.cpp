// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/algebra/refine.h"

#include <algorithm>
#include <functional>

namespace luminal::algebra {
namespace {

using ir::ExprId;
using ir::ExprKind;
using ir::Exprs;
using ir::Interval;
using region::Form;
using region::Region;

constexpr int kMaxSplits = 24;

void for_each_expr(Region& region, const std::function<void(ExprId&)>& visit) {
  for (region::Node& node : region.nodes)
    for (ExprId& index : node.index) visit(index);
  for (ExprId& index : region.store) visit(index);
}

struct Split {
  int axis = -1;
  std::int64_t inner = 0;
};

bool can_split(const Region& region, const Exprs& exprs, int axis, std::int64_t inner) {
  const bool in_order = region.form == Form::Scan || region.form == Form::Sort;
  if (in_order && axis == region.axis) return false;
  const auto extent = exprs.as_constant(region.axes[axis].extent);
  return extent && inner > 1 && inner < *extent && *extent % inner == 0;
}

// The first split that a quotient or remainder within `root` asks for: (step*axis + rest) div or mod `divisor` wants
// `axis` cut at divisor/step.
Split find_split(const Region& region, const Exprs& exprs, ExprId root) {
  std::vector<ExprId> open = {root};
  while (!open.empty()) {
    const ir::ExprNode node = exprs.node(open.back());
    open.pop_back();
    if (node.kind == ExprKind::Const || node.kind == ExprKind::Symbol ||
        node.kind == ExprKind::Coord)
      continue;
    open.push_back(node.a);
    open.push_back(node.b);
    if (node.kind != ExprKind::FloorDiv && node.kind != ExprKind::Mod) continue;
    const auto divisor = exprs.as_constant(node.b);
    if (!divisor) continue;
    for (const auto& [term, step] : exprs.linear(node.a).terms) {
      const ir::ExprNode& inner = exprs.node(term);
      if (inner.kind != ExprKind::Coord || step <= 0 || *divisor % step != 0) continue;
      const int axis = static_cast<int>(inner.value);
      if (axis >= static_cast<int>(region.axes.size())) continue;  // indirect
      if (can_split(region, exprs, axis, *divisor / step)) return {axis, *divisor / step};
    }
  }
  return {};
}

Split find_split(Region& region, const Exprs& exprs) {
  Split found;
  for_each_expr(region, [&](ExprId& expr) {
    if (found.axis < 0) found = find_split(region, exprs, expr);
  });
  return found;
}

void apply_split(Region& region, Exprs& exprs, Split split) {
  const int old_count = static_cast<int>(region.axes.size());
  const std::int64_t extent = *exprs.as_constant(region.axes[split.axis].extent);
  std::vector<ExprId> replacement;
  for (int k = 0; k < old_count + static_cast<int>(region.indirect.size()); ++k) {
    const ExprId moved = exprs.coord(k > split.axis ? k + 1 : k);
    replacement.push_back(k != split.axis
                              ? moved
                              : exprs.add(exprs.mul(moved, exprs.constant(split.inner)),
                                          exprs.coord(k + 1)));
  }
  region.axes[split.axis].extent = exprs.constant(extent / split.inner);
  region.axes.insert(region.axes.begin() + split.axis + 1, {exprs.constant(split.inner)});
  if (split.axis < region.output_rank) ++region.output_rank;
  const bool in_order = region.form == Form::Scan || region.form == Form::Sort;
  if (in_order && region.axis > split.axis) ++region.axis;
  std::vector<int> ordered;
  for (int axis : region.ordered_axes) {
    ordered.push_back(axis > split.axis ? axis + 1 : axis);
    if (axis == split.axis) ordered.push_back(axis + 1);
  }
  region.ordered_axes = std::move(ordered);
  const std::vector<Interval> ranges = coordinate_ranges(region, exprs);
  for_each_expr(region, [&](ExprId& expr) {
    expr = exprs.simplify(exprs.substitute(expr, replacement), ranges);
  });
}

}  // namespace

std::vector<Interval> coordinate_ranges(const Region& region, const Exprs& exprs) {
  std::vector<Interval> ranges;
  auto push = [&](ExprId extent) {
    ranges.push_back({0, std::max<std::int64_t>(exprs.interval(extent).hi - 1, 0)});
  };
  for (const region::Axis& axis : region.axes) push(axis.extent);
  for (const region::Indirect& indirect : region.indirect) push(indirect.limit);
  return ranges;
}

void refine_axes(Region& region, Exprs& exprs) {
  for (int step = 0; step < kMaxSplits; ++step) {
    const Split split = find_split(region, exprs);
    if (split.axis < 0) return;
    apply_split(region, exprs, split);
  }
}

}  // namespace luminal::algebra
