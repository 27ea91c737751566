// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/specialize.h"

namespace luminal::ir {

Result<Graph> specialize(const Graph& graph, const std::map<std::string, std::int64_t>& symbols) {
  Graph made;
  made.exprs = graph.exprs;
  std::vector<ExprId> replacement(graph.exprs.symbol_count());
  for (const auto& [name, number] : symbols) {
    const auto symbol = graph.exprs.find_symbol(name);
    if (!symbol) return error("no symbol is called '", name, "'");
    const Interval range = graph.exprs.symbol_info(*symbol).range;
    if (!range.contains(number))
      return error("symbol ", name, ": ", number, " is outside of [", range.lo, ", ", range.hi, "]");
    replacement[symbol->index] = made.exprs.constant(number);
  }
  for (const Value& value : graph.values()) {
    Value fixed = value;
    for (ExprId& extent : fixed.shape)
      extent = made.exprs.simplify(made.exprs.substitute_symbols(extent, replacement));
    const auto ranges = coord_ranges(made.exprs, fixed.shape);
    for (ExprId& index : fixed.map)
      index = made.exprs.simplify(made.exprs.substitute_symbols(index, replacement), ranges);
    const auto added = made.add(std::move(fixed));
    if (!added.ok()) return added.error();
  }
  for (const Output& output : graph.outputs()) made.output(output.name, output.value, output.state);
  return made;
}

}  // namespace luminal::ir
