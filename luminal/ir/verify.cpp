// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/verify.h"

#include <set>

namespace luminal::ir {
namespace {

Status check_view(const Graph& graph, Exprs& exprs, const Value& value) {
  const Shape& from = graph[value.operands[0]].shape;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (exprs.provably_in_bounds(value.map[axis], from[axis], value.shape)) continue;
    return error("index ", graph.exprs.print(value.map[axis]), " of axis ", axis,
                 " is not known to lie in [0, ", graph.exprs.print(from[axis]),
                 "); clamp it with min and max");
  }
  return {};
}

// What is read through an index needs at least one row, unless nothing is read.
Status check_gather(const Graph& graph, const Value& value) {
  const ExprId extent = graph[value.operands[0]].shape[static_cast<std::size_t>(value.axis)];
  if (graph.exprs.interval(extent).lo >= 1) return {};
  for (ExprId result_extent : value.shape)
    if (graph.exprs.interval(result_extent).hi == 0) return {};
  return error("axis ", value.axis, " of extent ", graph.exprs.print(extent),
               " may be empty, and an index has nothing to be clamped to");
}

Status check_storage(const Graph& graph, const Value& value) {
  const InputInfo& input = *value.input;
  if (!input.storage) return {};
  const auto ranges = coord_ranges(graph.exprs, value.shape);
  const Interval reach = graph.exprs.interval(input.storage->bit_offset, ranges);
  for (const Interval& range : ranges)
    if (range.empty()) return {};
  if (reach.lo < 0 || reach.hi >= Interval::kUnbounded)
    return error("'", input.name, "': bit offset ", graph.exprs.print(input.storage->bit_offset),
                 " leaves its buffer");
  return {};
}

Status check_value(const Graph& graph, Exprs& exprs, const Value& value) {
  switch (prim_info(value.prim).family) {
    case Family::View: return check_view(graph, exprs, value);
    case Family::Gather: return check_gather(graph, value);
    case Family::Source: return value.input ? check_storage(graph, value) : Status();
    default: return {};
  }
}

Status check_output(const Graph& graph, const Output& output, std::set<ValueId>& bound) {
  if (!graph.values().contains(output.value)) return error("no value");
  if (!output.state.valid()) return {};
  if (!graph.values().contains(output.state)) return error("no such state");
  const Value& value = graph[output.value];
  const Value& state = graph[output.state];
  if (!state.input || state.input->kind != InputKind::State)
    return error("bound to ", value_label(graph, output.state), ", which is not a state");
  if (state.dtype != value.dtype || state.shape != value.shape)
    return error("its type is not that of state '", state.input->name, "'");
  if (!bound.insert(output.state).second)
    return error("state '", state.input->name, "' has another output already");
  return {};
}

}  // namespace

std::string value_label(const Graph& graph, ValueId id) {
  const Value& value = graph[id];
  std::string label = cat("%", id.index, " = ", prim_info(value.prim).name);
  if (value.input) label += cat(" '", value.input->name, "'");
  if (!value.source.empty()) label += cat(" (", value.source, ")");
  return label;
}

Status verify(const Graph& graph) {
  Exprs exprs = graph.exprs;  // proofs make expressions
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Value& value = graph[ValueId(k)];
    const Status status = check_value(graph, exprs, value);
    if (!status.ok()) return status.error().within(value_label(graph, ValueId(k)));
  }
  std::set<std::string> names;
  std::set<ValueId> bound;
  for (const Output& output : graph.outputs()) {
    if (!names.insert(output.name).second) return error("output '", output.name, "' occurs twice");
    const Status status = check_output(graph, output, bound);
    if (!status.ok()) return status.error().within(cat("output '", output.name, "'"));
  }
  return {};
}

}  // namespace luminal::ir
