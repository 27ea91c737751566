// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/algebra/storage_choice.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace luminal::algebra {
namespace {

using ir::Family;
using ir::Graph;
using ir::Prim;
using ir::Value;
using ir::ValueId;

// Costs in units of one vector instruction a point.
constexpr int kTranscendental = 8;
constexpr int kRepeatLimit = 8;    // (uses - 1) * cost up to which a value is recomputed rather than stored
constexpr int kInlineLimit = 160;  // instructions of one kernel body

struct Facts {
  int cost = 0;                  // instructions to compute one point from stored values
  bool heavy = false;            // has a transcendental in it
  bool weights_only = false;     // every leaf is a weight or a constant, and there is a weight
  bool constants_only = false;   // every leaf is a constant or an Iota
  int uses = 0;                  // consumers that compute, through Views and casts
  bool in_reduction = false;     // reaches the body of a reduction
  bool repeated_in_reduction = false;  // .. and is broadcast on the way
  bool repeated = false;         // broadcast over an outer axis, or read through an index
  bool must_store = false;
};

bool is_free(Prim prim) {
  return prim == Prim::Cast || prim == Prim::Bitcast || prim == Prim::Detach || prim == Prim::Pin;
}

bool is_root_family(Family family) {
  return family == Family::Reduce || family == Family::Scatter || family == Family::Sort ||
         family == Family::Scan;
}

int own_cost(const Value& value) {
  if (ir::prim_info(value.prim).family != Family::Map || is_free(value.prim)) return 0;
  switch (value.prim) {
    case Prim::Log2: case Prim::Exp2: case Prim::Sin: case Prim::Sqrt: case Prim::Recip:
    case Prim::Mod: case Prim::IntDiv:
      return kTranscendental;
    default:
      return 1;
  }
}

// Value numbering: same_as[v] is the first value equal to v by structure.
std::vector<ValueId> number_values(const Graph& graph) {
  using Key = std::tuple<Prim, ir::DType, ir::Shape, std::vector<ValueId>, std::vector<int>, int,
                         std::vector<ir::ExprId>, ir::ScatterMode, ir::ScanOp,
                         std::vector<std::uint64_t>>;
  std::map<Key, ValueId> first;
  std::vector<ValueId> same(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const ValueId id(i);
    const Value& value = graph[id];
    same[i] = id;
    if (value.prim == Prim::Input) continue;
    std::vector<ValueId> operands = value.operands;
    for (ValueId& operand : operands) operand = same[operand.index];
    Key key{value.prim, value.dtype, value.shape, std::move(operands), value.axes, value.axis,
            value.map, value.scatter_mode, value.scan_op, value.bits};
    same[i] = first.emplace(std::move(key), id).first->second;
  }
  return same;
}

void forward_facts(const Graph& graph, const std::vector<ValueId>& same, std::vector<Facts>& facts) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Value& value = graph[ValueId(i)];
    Facts& fact = facts[i];
    if (value.prim == Prim::Input) {
      fact.cost = 1;
      fact.weights_only = value.input->kind == ir::InputKind::Weight;
      continue;
    }
    const Family family = ir::prim_info(value.prim).family;
    if (family == Family::Source) {
      fact.constants_only = true;
      continue;
    }
    if (is_root_family(family)) {
      fact.cost = 1;
      continue;
    }
    fact.cost = own_cost(value);
    fact.heavy = fact.cost >= kTranscendental;
    bool all_constant = true, all_weight = true;
    for (ValueId operand : value.operands) {
      const Facts& of = facts[same[operand.index].index];
      fact.cost = std::min(fact.cost + of.cost, 1 << 20);
      fact.heavy |= of.heavy;
      all_constant &= of.constants_only;
      all_weight &= of.constants_only || of.weights_only;
    }
    if (value.prim == Prim::Gather) {
      all_weight = false;  // rows chosen at run time are activations
      all_constant = false;
    }
    fact.constants_only = all_constant;
    fact.weights_only = all_weight && !all_constant;
  }
}

// How a View repeats its operand: over any axis, and over an axis outside of one that it reads.
struct Repeats {
  bool any = false;
  bool outer = false;
};

Repeats view_repeats(const Graph& graph, const Value& view) {
  Repeats repeats;
  const int rank = static_cast<int>(view.shape.size());
  int last_read = -1;
  for (int axis = 0; axis < rank; ++axis)
    for (ir::ExprId index : view.map)
      if (graph.exprs.depends_on_coord(index, axis)) last_read = axis;
  for (int axis = 0; axis < rank; ++axis) {
    if (graph.exprs.is_constant(view.shape[axis], 1)) continue;
    const bool read = std::any_of(view.map.begin(), view.map.end(), [&](ir::ExprId index) {
      return graph.exprs.depends_on_coord(index, axis);
    });
    if (!read) {
      repeats.any = true;
      repeats.outer |= axis < last_read;
    }
  }
  return repeats;
}

// Tells the operands of `value` how it uses them.
void spread_uses(const Graph& graph, const std::vector<ValueId>& same, const Value& value,
                 const Facts& fact, bool stored, std::vector<Facts>& facts) {
  const Family family = ir::prim_info(value.prim).family;
  const bool passes = family == Family::View || is_free(value.prim);
  for (std::size_t k = 0; k < value.operands.size(); ++k) {
    Facts& of = facts[same[value.operands[k].index].index];
    of.uses = std::min(of.uses + (passes && !stored ? std::max(fact.uses, 1) : 1), 1 << 20);
    if (is_root_family(family)) {
      of.in_reduction |= family == Family::Reduce;
      of.must_store |= family == Family::Scatter && k == 0;
      continue;
    }
    const bool inlined_in_reduction = !stored && fact.in_reduction;
    of.in_reduction |= inlined_in_reduction;
    of.repeated |= !stored && fact.repeated;
    of.repeated_in_reduction |= !stored && fact.repeated_in_reduction;
    if (family == Family::View) {
      const Repeats repeats = view_repeats(graph, value);
      of.repeated |= repeats.outer;
      of.repeated_in_reduction |= repeats.any && inlined_in_reduction;
    }
    if (family == Family::Gather && k == 0) {
      of.repeated = true;
      of.repeated_in_reduction = true;
    }
  }
}

bool worth_storing(const Facts& fact) {
  if (fact.must_store) return true;
  if (fact.weights_only) return false;
  const bool cheap_index_arithmetic = fact.constants_only && !fact.heavy;
  if (cheap_index_arithmetic) return false;
  if (fact.uses >= 2 && (fact.uses - 1) * fact.cost > kRepeatLimit) return true;
  if (fact.repeated_in_reduction && fact.cost >= 2) return true;
  if (fact.repeated && fact.heavy) return true;
  return false;
}

}  // namespace

StorageChoice choose_storage(const Graph& graph) {
  StorageChoice choice;
  choice.same_as = number_values(graph);
  choice.stored.assign(graph.size(), false);
  choice.used.assign(graph.size(), false);
  std::vector<Facts> facts(graph.size());
  forward_facts(graph, choice.same_as, facts);

  for (const ir::Output& output : graph.outputs()) {
    const ValueId id = choice.same_as[output.value.index];
    choice.used[id.index] = true;
    facts[id.index].must_store = true;
  }
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!choice.used[i]) continue;
    const Value& value = graph[ValueId(i)];
    const Family family = ir::prim_info(value.prim).family;
    if (value.prim == Prim::Input) continue;
    choice.stored[i] = is_root_family(family) || facts[i].must_store ||
                       (family == Family::Map && !is_free(value.prim) && worth_storing(facts[i]));
    for (ValueId operand : value.operands) choice.used[choice.same_as[operand.index].index] = true;
    spread_uses(graph, choice.same_as, value, facts[i], choice.stored[i], facts);
  }

  // Bodies that grew too long are cut at the value that passes the limit.
  std::vector<int> cost(graph.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Value& value = graph[ValueId(i)];
    if (!choice.used[i] || value.prim == Prim::Input) continue;
    cost[i] = std::max(own_cost(value), 0);
    for (ValueId operand : value.operands) {
      const std::size_t k = choice.same_as[operand.index].index;
      cost[i] = std::min(cost[i] + (choice.stored[k] ? 1 : cost[k]), 1 << 20);
    }
    if (cost[i] > kInlineLimit && !facts[i].weights_only && !choice.stored[i] &&
        ir::prim_info(value.prim).family == Family::Map)
      choice.stored[i] = true;
  }
  return choice;
}

}  // namespace luminal::algebra
