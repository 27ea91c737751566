// SPDX-License-Identifier: MIT OR Apache-2.0
// HLIR: a graph of values with positional axes. A value is made by one primitive from earlier values, so ids are a
// topological order. Shapes are extents: uniform expressions over named symbols (expr.h). There is no implicit
// broadcasting: operands of a Map have the result's shape; broadcasting, transposing, slicing are Views.
//
// The functions below build values and check by infer() that they are well formed (a failed check is a defect of the
// caller: user-facing layers test first, and say so in the user's words). verify.h checks whole graphs from files.
//
//   Graph graph;
//   ValueId x = graph.input("x", DType::F32, {n, m});
//   ValueId w = graph.weight("w", DType::F32, {m, k});
//   ValueId y = graph.reduce(Prim::SumReduce, graph.map(Prim::Mul, {xe, we}), {1});
//   graph.output("y", y);
#pragma once

#include "luminal/base/result.h"
#include "luminal/ir/dtype.h"
#include "luminal/ir/expr.h"
#include "luminal/ir/primitives.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace luminal::ir {

using ValueId = Id<struct ValueTag>;
using Shape = std::vector<ExprId>;

enum class InputKind : std::uint8_t {
  Input,   ///< given for each run
  Weight,  ///< given once, constant
  State,   ///< kept between runs, starts at zero; a new value is an Output bound to it
};

/// Where the elements of an Input lie: element (c0, c1, ..) is the field of the dtype's width that starts at bit
/// bit_offset(c0, c1, ..) of the buffer, counted from the low bit of byte 0 (little endian). Several Inputs may read
/// one buffer: a quantised tensor is its bit fields plus arithmetic.
struct Storage {
  std::string buffer;
  ExprId bit_offset;
};

struct InputInfo {
  InputKind kind = InputKind::Input;
  std::string name;             ///< unique in a graph
  bool finite = false;          ///< no NaN and no infinity (weights: checked at load)
  std::optional<Storage> storage;  ///< absent: dense, row-major, elements alone, in the buffer of its own name
};

enum class ScatterMode : std::uint8_t { Set, Add, Max };
enum class ScanOp : std::uint8_t { Sum, Max, Affine };

struct Value {
  Prim prim = Prim::Input;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<ValueId> operands;

  // Attributes, by family; unused ones stay empty.
  std::vector<int> axes;              ///< Reduce: ascending
  int axis = 0;                       ///< Gather, Scatter, Sort, Scan
  std::vector<ExprId> map;            ///< View: one a operand axis, over the result's coordinates; Iota: one
  ScatterMode scatter_mode = ScatterMode::Set;
  ScanOp scan_op = ScanOp::Sum;
  std::optional<InputInfo> input;     ///< Input
  std::vector<std::uint64_t> bits;    ///< Constant: element bits, row-major; static shape
  std::string source;                 ///< the user's line ("model.py:12"), or empty
};

struct Output {
  std::string name;
  ValueId value;
  ValueId state;  ///< a State Input that holds `value` from the next run on, or none
};

struct Type {
  DType dtype;
  Shape shape;
};

class Graph {
 public:
  Exprs exprs;

  const Value& operator[](ValueId id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }
  const Store<ValueId, Value>& values() const { return values_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  Result<ValueId> find_input(std::string_view name) const;

  ValueId input(std::string name, DType dtype, Shape shape);
  ValueId weight(std::string name, DType dtype, Shape shape, std::optional<Storage> storage = {});
  ValueId state(std::string name, DType dtype, Shape shape);
  /// A tensor of numbers; a scalar has shape {}.
  ValueId constant(DType dtype, std::vector<std::int64_t> shape, std::vector<std::uint64_t> bits);
  ValueId scalar(DType dtype, double number);
  ValueId iota(DType dtype, Shape shape, ExprId value);
  ValueId map(Prim prim, std::vector<ValueId> operands);
  ValueId cast(ValueId x, DType dtype);  ///< x itself if it has that type
  ValueId bitcast(ValueId x, DType dtype);
  ValueId reduce(Prim prim, ValueId x, std::vector<int> axes);
  ValueId view(ValueId x, Shape shape, std::vector<ExprId> map);
  ValueId gather(ValueId x, int axis, ValueId index);
  ValueId scatter(ValueId dest, int axis, ValueId index, ValueId update, ScatterMode mode);
  ValueId sort(ValueId x, int axis);
  ValueId scan(ScanOp op, std::vector<ValueId> operands, int axis);
  void output(std::string name, ValueId value, ValueId state = {});

  // Views that everyone needs.
  ValueId permute(ValueId x, const std::vector<int>& order);
  /// Any value repeated to `shape`; axis i of x becomes axis axes[i] of the result. A scalar: axes = {}.
  ValueId expand(ValueId x, Shape shape, const std::vector<int>& axes);

  /// Appends any value after infer(); for parsers and rewriters. dtype and shape of `value` are what the caller
  /// states, and must be what infer() gives.
  Result<ValueId> add(Value value);
  /// Names the user's line that following values come from.
  void set_source(std::string source) { source_ = std::move(source); }

 private:
  ValueId push(Value value);
  ValueId make(Value value);
  Store<ValueId, Value> values_;
  std::map<std::string, ValueId, std::less<>> inputs_;
  std::vector<Output> outputs_;
  std::string source_;
};

/// The type that `value` must have in `graph`, or what is wrong with its operands and attributes. For families whose
/// result type is given (sources, View, Cast, Bitcast) the stated type is checked and returned.
Result<Type> infer(Graph& graph, const Value& value);

}  // namespace luminal::ir
