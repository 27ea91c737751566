// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/algebra/region_import.h"

#include "luminal/algebra/refine.h"

#include <algorithm>
#include <map>
#include <utility>

namespace luminal::algebra {
namespace {

using ir::ExprId;
using ir::Exprs;
using ir::Family;
using ir::Graph;
using ir::Interval;
using ir::Prim;
using ir::Value;
using ir::ValueId;
using region::Form;
using region::Node;
using region::NodeId;
using region::NodeKind;
using region::Region;

using Index = std::vector<ExprId>;
using Key = std::pair<ValueId, Index>;  // a value at a point

class Importer {
 public:
  Importer(const Graph& graph, const StorageChoice& choice, Exprs& exprs)
      : graph_(graph), choice_(choice), exprs_(exprs) {}

  ImportedRegion run(ValueId root, bool copy) {
    const Value& value = graph_[root];
    const Family family = copy ? Family::Source : ir::prim_info(value.prim).family;
    switch (family) {
      case Family::Reduce: import_reduce(value); break;
      case Family::Scatter: import_update(value); break;
      case Family::Sort: case Family::Scan: import_ordered(value); break;
      default: import_map(root, copy); break;
    }
    out_.region.buffers.push_back({value.dtype, value.shape, {}});
    refine_axes(out_.region, exprs_);
    return std::move(out_);
  }

 private:
  // Coordinates of new axes; an axis of extent 1 is always at 0.
  Index add_axes(const ir::Shape& shape) {
    Index coords;
    for (ExprId extent : shape) {
      const int axis = static_cast<int>(out_.region.axes.size());
      out_.region.axes.push_back({extent});
      coords.push_back(exprs_.is_constant(extent, 1) ? exprs_.constant(0) : exprs_.coord(axis));
    }
    return coords;
  }

  void import_map(ValueId root, bool copy) {
    Region& region = out_.region;
    region.form = Form::Map;
    const Index coords = add_axes(graph_[root].shape);
    region.output_rank = static_cast<int>(coords.size());
    region.store = coords;
    root_ = copy ? ValueId() : root;
    region.roots = {expand(root, coords)};
  }

  void import_reduce(const Value& value) {
    Region& region = out_.region;
    region.form = Form::Reduce;
    region.combine = value.prim;
    const ir::Shape& inner = graph_[value.operands[0]].shape;
    const Index kept = add_axes(value.shape);
    region.output_rank = static_cast<int>(kept.size());
    region.store = kept;
    ir::Shape reduced;
    for (int axis : value.axes) reduced.push_back(inner[axis]);
    const Index summed = add_axes(reduced);
    Index point;
    std::size_t next_kept = 0, next_summed = 0;
    for (int axis = 0; axis < static_cast<int>(inner.size()); ++axis) {
      const bool is_summed = std::binary_search(value.axes.begin(), value.axes.end(), axis);
      point.push_back(is_summed ? summed[next_summed++] : kept[next_kept++]);
    }
    region.roots = {expand(value.operands[0], point)};
  }

  void import_ordered(const Value& value) {
    Region& region = out_.region;
    region.form = value.prim == Prim::Scan ? Form::Scan : Form::Sort;
    region.scan_op = value.scan_op;
    region.axis = value.axis;
    const Index coords = add_axes(value.shape);
    region.output_rank = static_cast<int>(coords.size());
    region.store = coords;
    for (ValueId operand : value.operands) region.roots.push_back(expand(operand, coords));
  }

  void import_update(const Value& value) {
    Region& region = out_.region;
    region.form = Form::Update;
    region.update_mode = value.scatter_mode;
    region.axis = value.axis;
    const ValueId index = value.operands[1], update = value.operands[2];
    const Index coords = add_axes(graph_[update].shape);
    region.output_rank = static_cast<int>(coords.size());
    const int index_rank = static_cast<int>(graph_[index].shape.size());
    const Index index_point(coords.begin() + value.axis, coords.begin() + value.axis + index_rank);
    const NodeId row = expand(index, index_point);
    region.store.assign(coords.begin(), coords.begin() + value.axis);
    region.store.push_back(row_position(region, row, value, index_point));
    region.store.insert(region.store.end(), coords.begin() + value.axis + index_rank, coords.end());
    if (region.ordered)
      for (int k = 0; k < index_rank; ++k) region.ordered_axes.push_back(value.axis + k);
    region.roots = {expand(update, coords)};
  }

  // Where the rows go: an affine index that is proved inside and injective stays an expression.
  ExprId row_position(Region& region, NodeId row, const Value& value, const Index& point) {
    const ExprId extent = value.shape[value.axis];
    const Node& node = region.nodes[row.index];
    if (node.kind == NodeKind::Index) {
      const ExprId position = node.index[0];
      const std::vector<Interval> ranges = coordinate_ranges(region, exprs_);
      const bool inside =
          exprs_.provably_le(exprs_.constant(0), position, ranges) &&
          exprs_.provably_le(exprs_.add(position, exprs_.constant(1)), extent, ranges);
      if (inside) {
        region.ordered = !injective(position, point);
        return position;
      }
    }
    region.ordered = true;
    const ExprId position = indirect_coord(row, extent);
    region.drop_indirect = static_cast<int>(region.indirect.size()) - 1;
    return position;
  }

  // One moving coordinate with a constant step.
  bool injective(ExprId position, const Index& point) const {
    int moving = 0;
    for (ExprId coord : point) moving += !exprs_.as_constant(coord).has_value();
    if (moving == 0) return true;
    if (moving > 1) return false;
    for (const auto& [term, step] : exprs_.linear(position).terms)
      if (std::find(point.begin(), point.end(), term) != point.end()) return step != 0;
    return false;
  }

  // The node of `value` at `point`, with all that it is made of. An explicit stack: graphs are deep.
  NodeId expand(ValueId value, const Index& point) {
    std::vector<Key> stack = {{choice_.same_as[value.index], point}};
    const Key wanted = stack.back();
    while (!stack.empty()) {
      const Key key = stack.back();
      if (done_.count(key) != 0 || visit(key, stack)) {
        LUM_CHECK(done_.count(key) != 0);
        stack.pop_back();
      }
    }
    return done_.at(wanted);
  }

  // Makes the node of `key` if its operands are there (true), else pushes a missing operand (false).
  bool visit(const Key& key, std::vector<Key>& stack) {
    const Value& value = graph_[key.first];
    if (key.first != root_ &&
        (value.prim == Prim::Input || choice_.stored[key.first.index])) {
      done_[key] = load(key.first, key.second);
      return true;
    }
    switch (ir::prim_info(value.prim).family) {
      case Family::Source: done_[key] = source(key.first, value, key.second); return true;
      case Family::View: return pass(key, view_point(value, key.second), value.operands[0], stack);
      case Family::Gather: return gather(key, value, stack);
      default: break;
    }
    if (value.prim == Prim::Detach || value.prim == Prim::Pin)
      return pass(key, key.second, value.operands[0], stack);
    Node node{.kind = NodeKind::Map, .prim = value.prim, .dtype = value.dtype};
    for (ValueId operand : value.operands) {
      const Key child{choice_.same_as[operand.index], key.second};
      const auto found = done_.find(child);
      if (found == done_.end()) {
        stack.push_back(child);
        return false;
      }
      node.operands.push_back(found->second);
    }
    done_[key] = intern(std::move(node));
    return true;
  }

  // `key` is its operand at another point.
  bool pass(const Key& key, const Index& point, ValueId operand, std::vector<Key>& stack) {
    const Key child{choice_.same_as[operand.index], point};
    const auto found = done_.find(child);
    if (found == done_.end()) {
      stack.push_back(child);
      return false;
    }
    done_[key] = found->second;
    return true;
  }

  Index view_point(const Value& view, const Index& point) {
    const std::vector<Interval> ranges = coordinate_ranges(out_.region, exprs_);
    Index inner;
    for (ExprId position : view.map)
      inner.push_back(exprs_.simplify(exprs_.substitute(position, point), ranges));
    return inner;
  }

  bool gather(const Key& key, const Value& value, std::vector<Key>& stack) {
    const ValueId data = value.operands[0], index = value.operands[1];
    const auto first = key.second.begin() + value.axis;
    const int index_rank = static_cast<int>(graph_[index].shape.size());
    const Key row{choice_.same_as[index.index], Index(first, first + index_rank)};
    const auto found = done_.find(row);
    if (found == done_.end()) {
      stack.push_back(row);
      return false;
    }
    const ExprId extent = graph_[data].shape[value.axis];
    Index inner(key.second.begin(), first);
    inner.push_back(row_coord(found->second, extent));
    inner.insert(inner.end(), first + index_rank, key.second.end());
    return pass(key, inner, data, stack);
  }

  // A Gather's row: an expression when the index is one, else an indirect coordinate; clamped to the axis.
  ExprId row_coord(NodeId row, ExprId extent) {
    const Node& node = out_.region.nodes[row.index];
    if (node.kind != NodeKind::Index) return indirect_coord(row, extent);
    const ExprId last = exprs_.sub(extent, exprs_.constant(1));
    const ExprId clamped = exprs_.max(exprs_.min(node.index[0], last), exprs_.constant(0));
    return exprs_.simplify(clamped, coordinate_ranges(out_.region, exprs_));
  }

  ExprId indirect_coord(NodeId node, ExprId limit) {
    std::vector<region::Indirect>& indirect = out_.region.indirect;
    for (std::size_t k = 0; k < indirect.size(); ++k)
      if (indirect[k].node == node && indirect[k].limit == limit)
        return exprs_.coord(static_cast<int>(out_.region.axes.size() + k));
    indirect.push_back({node, limit});
    return exprs_.coord(static_cast<int>(out_.region.axes.size() + indirect.size() - 1));
  }

  NodeId load(ValueId value, const Index& point) {
    auto [found, added] = buffer_of_.emplace(value, static_cast<int>(out_.reads.size()));
    if (added) {
      out_.reads.push_back(value);
      out_.region.buffers.push_back({graph_[value].dtype, graph_[value].shape, {}});
    }
    return intern({.kind = NodeKind::Load, .dtype = graph_[value].dtype, .index = point,
                   .buffer = found->second});
  }

  NodeId source(ValueId id, const Value& value, const Index& point) {
    if (value.prim == Prim::Iota) {
      const ExprId position = exprs_.substitute(value.map[0], point);
      return intern({.kind = NodeKind::Index, .dtype = value.dtype,
                     .index = {exprs_.simplify(position,
                                               coordinate_ranges(out_.region, exprs_))}});
    }
    LUM_CHECK(value.prim == Prim::Constant);
    if (value.bits.size() != 1) return load(id, point);
    return intern({.kind = NodeKind::Constant, .dtype = value.dtype, .bits = value.bits[0]});
  }

  NodeId intern(Node node) {
    auto [found, added] = nodes_.emplace(node, NodeId(out_.region.nodes.size()));
    if (added) out_.region.nodes.push_back(std::move(node));
    return found->second;
  }

  const Graph& graph_;
  const StorageChoice& choice_;
  Exprs& exprs_;
  ImportedRegion out_;
  ValueId root_;  // the one stored value that is computed here and not read
  std::map<Key, NodeId> done_;
  std::map<Node, NodeId> nodes_;
  std::map<ValueId, int> buffer_of_;
};

}  // namespace

ImportedRegion import_region(const Graph& graph, const StorageChoice& choice, Exprs& exprs,
                             ValueId root, bool copy) {
  return Importer(graph, choice, exprs).run(root, copy);
}

}  // namespace luminal::algebra
