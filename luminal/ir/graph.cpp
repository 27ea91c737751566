// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/graph.h"

#include <utility>

namespace luminal::ir {

Result<ValueId> Graph::find_input(std::string_view name) const {
  const auto found = inputs_.find(name);
  if (found == inputs_.end()) return error("no input is called '", name, "'");
  return found->second;
}

ValueId Graph::push(Value value) {
  if (value.source.empty()) value.source = source_;
  std::string name = value.input ? value.input->name : std::string();
  const ValueId id = values_.push(std::move(value));
  if (!name.empty()) inputs_.emplace(std::move(name), id);
  return id;
}

Result<ValueId> Graph::add(Value value) {
  LUM_ASSIGN_OR_RETURN(const Type type, infer(*this, value));
  if (type.dtype != value.dtype || type.shape != value.shape)
    return error(prim_info(value.prim).name, ": the stated type is not the one that follows from its operands");
  return push(std::move(value));
}

ValueId Graph::make(Value value) {
  const Result<Type> type = infer(*this, value);
  LUM_CHECK(type.ok(), type.ok() ? "" : type.error().message);
  value.dtype = type->dtype;
  value.shape = type->shape;
  return push(std::move(value));
}

ValueId Graph::input(std::string name, DType dtype, Shape shape) {
  InputInfo info{InputKind::Input, std::move(name), false, {}};
  return make({.prim = Prim::Input, .dtype = dtype, .shape = std::move(shape), .input = std::move(info)});
}

ValueId Graph::weight(std::string name, DType dtype, Shape shape, std::optional<Storage> storage) {
  InputInfo info{InputKind::Weight, std::move(name), true, std::move(storage)};
  return make({.prim = Prim::Input, .dtype = dtype, .shape = std::move(shape), .input = std::move(info)});
}

ValueId Graph::state(std::string name, DType dtype, Shape shape) {
  InputInfo info{InputKind::State, std::move(name), false, {}};
  return make({.prim = Prim::Input, .dtype = dtype, .shape = std::move(shape), .input = std::move(info)});
}

ValueId Graph::constant(DType dtype, std::vector<std::int64_t> shape, std::vector<std::uint64_t> bits) {
  Value value{.prim = Prim::Constant, .dtype = dtype, .bits = std::move(bits)};
  for (std::int64_t extent : shape) value.shape.push_back(exprs.constant(extent));
  return make(std::move(value));
}

ValueId Graph::scalar(DType dtype, double number) { return constant(dtype, {}, {encode(dtype, number)}); }

ValueId Graph::iota(DType dtype, Shape shape, ExprId expression) {
  return make({.prim = Prim::Iota, .dtype = dtype, .shape = std::move(shape), .map = {expression}});
}

ValueId Graph::map(Prim prim, std::vector<ValueId> operands) {
  LUM_CHECK(prim_info(prim).family == Family::Map, prim_info(prim).name, " is not pointwise");
  return make({.prim = prim, .operands = std::move(operands)});
}

ValueId Graph::cast(ValueId x, DType dtype) {
  if (values_[x].dtype == dtype) return x;
  return make({.prim = Prim::Cast, .dtype = dtype, .operands = {x}});
}

ValueId Graph::bitcast(ValueId x, DType dtype) {
  return make({.prim = Prim::Bitcast, .dtype = dtype, .operands = {x}});
}

ValueId Graph::reduce(Prim prim, ValueId x, std::vector<int> axes) {
  LUM_CHECK(prim_info(prim).family == Family::Reduce, prim_info(prim).name, " is not a reduction");
  return make({.prim = prim, .operands = {x}, .axes = std::move(axes)});
}

ValueId Graph::view(ValueId x, Shape shape, std::vector<ExprId> map) {
  return make({.prim = Prim::View,
               .dtype = values_[x].dtype,
               .shape = std::move(shape),
               .operands = {x},
               .map = std::move(map)});
}

ValueId Graph::gather(ValueId x, int axis, ValueId index) {
  return make({.prim = Prim::Gather, .operands = {x, index}, .axis = axis});
}

ValueId Graph::scatter(ValueId dest, int axis, ValueId index, ValueId update, ScatterMode mode) {
  return make({.prim = Prim::Scatter, .operands = {dest, index, update}, .axis = axis, .scatter_mode = mode});
}

ValueId Graph::sort(ValueId x, int axis) { return make({.prim = Prim::Sort, .operands = {x}, .axis = axis}); }

ValueId Graph::scan(ScanOp op, std::vector<ValueId> operands, int axis) {
  return make({.prim = Prim::Scan, .operands = std::move(operands), .axis = axis, .scan_op = op});
}

void Graph::output(std::string name, ValueId value, ValueId state) {
  LUM_CHECK(values_.contains(value), "output ", name, " has no value");
  outputs_.push_back({std::move(name), value, state});
}

ValueId Graph::permute(ValueId x, const std::vector<int>& order) {
  const Shape from = values_[x].shape;
  LUM_CHECK(order.size() == from.size(), "an order of ", order.size(), " axes for ", from.size());
  Shape shape;
  std::vector<ExprId> map(from.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    const auto operand_axis = static_cast<std::size_t>(order[axis]);
    shape.push_back(from[operand_axis]);
    map[operand_axis] = exprs.coord(static_cast<int>(axis));
  }
  return view(x, std::move(shape), std::move(map));
}

ValueId Graph::expand(ValueId x, Shape shape, const std::vector<int>& axes) {
  std::vector<ExprId> map;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const bool single = exprs.is_constant(values_[x].shape[axis], 1);
    map.push_back(single ? exprs.constant(0) : exprs.coord(axes[axis]));
  }
  return view(x, std::move(shape), std::move(map));
}

}  // namespace luminal::ir
