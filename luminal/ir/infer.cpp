// SPDX-License-Identifier: MIT OR Apache-2.0
// The dtype rule of each primitive and the shape rule of each family.
#include "luminal/ir/graph.h"

#include <algorithm>

namespace luminal::ir {
namespace {

std::string shape_text(const Graph& graph, const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += cat(axis == 0 ? "" : ", ", graph.exprs.print(shape[axis]));
  return text + "]";
}

class Inference {
 public:
  Inference(Graph& graph, const Value& value)
      : graph_(graph), value_(value), info_(prim_info(value.prim)) {}

  Result<Type> run() {
    LUM_RETURN_IF_ERROR(check_operands());
    LUM_ASSIGN_OR_RETURN(const DType dtype, dtype_of());
    LUM_ASSIGN_OR_RETURN(Shape shape, shape_of());
    return Type{dtype, std::move(shape)};
  }

 private:
  template <class... Parts>
  Error failure(const Parts&... parts) const {
    return error(info_.name, ": ", parts...);
  }
  const Value& operand(std::size_t number) const { return graph_[value_.operands[number]]; }
  DType operand_dtype(std::size_t number) const { return operand(number).dtype; }

  Status check_operands() const {
    const auto count = static_cast<int>(value_.operands.size());
    const int wanted =
        info_.arity >= 0 ? info_.arity : (value_.scan_op == ScanOp::Affine ? 2 : 1);
    if (count != wanted) return failure(count, " operands, ", wanted, " expected");
    for (ValueId id : value_.operands)
      if (!graph_.values().contains(id)) return failure("an operand comes after the value");
    return {};
  }

  Status require_same(std::size_t first) const {
    for (std::size_t k = first + 1; k < value_.operands.size(); ++k)
      if (operand_dtype(k) != operand_dtype(first))
        return failure("operands of types ", dtype_name(operand_dtype(first)), " and ",
                       dtype_name(operand_dtype(k)), "; cast one");
    return {};
  }

  Result<DType> same(bool floats, bool integers, bool bools, const char* wanted) const {
    LUM_RETURN_IF_ERROR(require_same(0));
    const DType dtype = operand_dtype(0);
    const bool allowed = (floats && is_float(dtype)) || (integers && is_integer(dtype)) ||
                         (bools && dtype == DType::Bool);
    if (!allowed) return failure("operands of type ", dtype_name(dtype), ", ", wanted, " expected");
    return dtype;
  }

  Result<DType> dtype_of() const {
    switch (info_.dtype_rule) {
      case DTypeRule::Given: return given();
      case DTypeRule::SameFloat: return same(true, false, false, "a float type");
      case DTypeRule::SameNumber: return same(true, true, false, "a float or integer type");
      case DTypeRule::SameInteger: return same(false, true, true, "an integer type or bool");
      case DTypeRule::Shift: return same(false, true, false, "an integer type");
      case DTypeRule::SameAny: return same(true, true, true, "any type");
      case DTypeRule::Compare:
        LUM_RETURN_IF_ERROR(require_same(0));
        return DType::Bool;
      case DTypeRule::Choose:
        if (operand_dtype(0) != DType::Bool)
          return failure("condition of type ", dtype_name(operand_dtype(0)), ", bool expected");
        LUM_RETURN_IF_ERROR(require_same(1));
        return operand_dtype(1);
      case DTypeRule::IndexResult: return DType::I32;
      case DTypeRule::FirstIndexed: return indexed();
    }
    return failure("no type rule");
  }

  Result<DType> given() const {
    if (value_.prim == Prim::Bitcast &&
        dtype_bits(operand_dtype(0)) != dtype_bits(value_.dtype))
      return failure("from ", dtype_name(operand_dtype(0)), " to ", dtype_name(value_.dtype),
                     ", which has another width");
    if (value_.prim == Prim::Iota && !is_float(value_.dtype) && !is_integer(value_.dtype))
      return failure("of type ", dtype_name(value_.dtype), "; a float or integer type expected");
    return value_.dtype;
  }

  Result<DType> indexed() const {
    if (!is_integer(operand_dtype(1)))
      return failure("index of type ", dtype_name(operand_dtype(1)), ", an integer type expected");
    if (value_.operands.size() == 3) {
      if (operand_dtype(0) != operand_dtype(2))
        return failure("update of type ", dtype_name(operand_dtype(2)), " into ",
                       dtype_name(operand_dtype(0)), "; cast one");
      if (value_.scatter_mode != ScatterMode::Set && operand_dtype(0) == DType::Bool)
        return failure("add and max are not defined for bool");
    }
    return operand_dtype(0);
  }

  Result<Shape> shape_of() {
    switch (info_.family) {
      case Family::Source: return source_shape();
      case Family::Map:
      case Family::Scan: return mapped_shape();
      case Family::Reduce: return reduced_shape();
      case Family::View: return viewed_shape();
      case Family::Gather: return gathered_shape();
      case Family::Scatter: return scattered_shape();
      case Family::Sort:
        LUM_RETURN_IF_ERROR(check_axis(operand(0).shape, value_.axis));
        return operand(0).shape;
    }
    return failure("no shape rule");
  }

  Status check_axis(const Shape& shape, int axis) const {
    if (axis < 0 || axis >= static_cast<int>(shape.size()))
      return failure("axis ", axis, " of a value of shape ", shape_text(graph_, shape));
    return {};
  }

  Status check_shape(const Shape& shape) {
    for (ExprId extent : shape) {
      if (!extent.valid() || !graph_.exprs.is_uniform(extent))
        return failure("an extent depends on coordinates");
      if (graph_.exprs.tight_interval(extent).lo < 0)
        return failure("extent ", graph_.exprs.print(extent), " may be negative");
    }
    return {};
  }

  // Every coordinate in `e` must be one of the first `rank`.
  Status check_coords(ExprId e, std::size_t rank) const {
    if (!e.valid()) return failure("an index is missing");
    const int used = graph_.exprs.coords_used(e);
    if (used > static_cast<int>(rank))
      return failure("index ", graph_.exprs.print(e), " uses c", used - 1, " of a value of ", rank,
                     " axes");
    return {};
  }

  Result<Shape> source_shape() {
    LUM_RETURN_IF_ERROR(check_shape(value_.shape));
    if (value_.prim == Prim::Iota) {
      if (value_.map.size() != 1) return failure("one expression expected");
      LUM_RETURN_IF_ERROR(check_coords(value_.map[0], value_.shape.size()));
    }
    if (value_.prim == Prim::Constant) {
      std::size_t count = 1;
      for (ExprId extent : value_.shape) {
        const auto number = graph_.exprs.as_constant(extent);
        if (!number) return failure("extents must be constant");
        if (*number != 0 && count > value_.bits.size()) break;
        count *= static_cast<std::size_t>(*number);
      }
      if (count != value_.bits.size())
        return failure(value_.bits.size(), " elements for shape ",
                       shape_text(graph_, value_.shape));
    }
    if (value_.prim == Prim::Input) LUM_RETURN_IF_ERROR(check_input());
    return value_.shape;
  }

  Status check_input() const {
    if (!value_.input) return failure("no name");
    const InputInfo& input = *value_.input;
    if (input.name.empty()) return failure("an empty name");
    if (graph_.find_input(input.name).ok()) return failure("'", input.name, "' exists already");
    if (input.kind != InputKind::Input)
      for (ExprId extent : value_.shape)
        if (!graph_.exprs.as_constant(extent))
          return failure("'", input.name, "': extents of weights and states must be constant");
    if (!input.storage) return {};
    if (input.kind != InputKind::Weight)
      return failure("'", input.name, "': only a weight can be stored in a buffer of its own");
    return check_coords(input.storage->bit_offset, value_.shape.size());
  }

  Result<Shape> mapped_shape() const {
    const Shape& shape = operand(0).shape;
    for (std::size_t k = 1; k < value_.operands.size(); ++k)
      if (operand(k).shape != shape)
        return failure("operands of shapes ", shape_text(graph_, shape), " and ",
                       shape_text(graph_, operand(k).shape));
    if (info_.family == Family::Scan) LUM_RETURN_IF_ERROR(check_axis(shape, value_.axis));
    return shape;
  }

  Result<Shape> reduced_shape() const {
    Shape shape = operand(0).shape;
    for (std::size_t k = value_.axes.size(); k-- > 0;) {
      LUM_RETURN_IF_ERROR(check_axis(operand(0).shape, value_.axes[k]));
      if (k + 1 < value_.axes.size() && value_.axes[k] >= value_.axes[k + 1])
        return failure("axes must rise");
      shape.erase(shape.begin() + value_.axes[k]);
    }
    return shape;
  }

  Result<Shape> viewed_shape() {
    LUM_RETURN_IF_ERROR(check_shape(value_.shape));
    if (value_.map.size() != operand(0).shape.size())
      return failure(value_.map.size(), " index expressions for an operand of shape ",
                     shape_text(graph_, operand(0).shape));
    for (ExprId e : value_.map) LUM_RETURN_IF_ERROR(check_coords(e, value_.shape.size()));
    return value_.shape;
  }

  Result<Shape> gathered_shape() const {
    const Shape& from = operand(0).shape;
    LUM_RETURN_IF_ERROR(check_axis(from, value_.axis));
    Shape shape(from.begin(), from.begin() + value_.axis);
    const Shape& index = operand(1).shape;
    shape.insert(shape.end(), index.begin(), index.end());
    shape.insert(shape.end(), from.begin() + value_.axis + 1, from.end());
    return shape;
  }

  Result<Shape> scattered_shape() const {
    LUM_ASSIGN_OR_RETURN(const Shape rows, gathered_shape());
    if (operand(2).shape != rows)
      return failure("update of shape ", shape_text(graph_, operand(2).shape), ", ",
                     shape_text(graph_, rows), " expected");
    return operand(0).shape;
  }

  Graph& graph_;
  const Value& value_;
  const PrimInfo& info_;
};

}  // namespace

Result<Type> infer(Graph& graph, const Value& value) { return Inference(graph, value).run(); }

}  // namespace luminal::ir
