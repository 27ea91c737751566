// SPDX-License-Identifier: MIT OR Apache-2.0
// The primitives, one row each (LUM_PRIMITIVES below): name, family, arity, dtype rule, C spelling, how a number is
// computed, one line of documentation. Printer, parser, verifier, interpreter, renderer, the e-graph's prelude, docs
// and property tests read the row; adding a pointwise primitive is adding a row here.
//
// A family has one shape rule and one set of attributes (graph.h); only families are switched over in code.
#pragma once

#include "luminal/ir/dtype.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace luminal::ir {

enum class Family : std::uint8_t {
  Source,     ///< Input, Constant, Iota: no operands
  Map,        ///< pointwise; all operands and the result have the same shape
  Reduce,     ///< drops the axes `axes`
  View,       ///< reads its operand at `map`, one expression of the result's coordinates for each operand axis
  Gather,     ///< operand axis `axis` is replaced by the axes of the index
  Scatter,    ///< dest with `update` written at rows `index` of axis `axis`, by `mode`
  Sort,       ///< the permutation that sorts along `axis`
  Scan,       ///< running reduction along `axis`, by `scan_op`
};

enum class DTypeRule : std::uint8_t {
  Given,          ///< the value states it (sources, Cast, Bitcast)
  SameFloat,      ///< all operands of one float type, which is the result's
  SameNumber,     ///< all operands of one float or integer type, which is the result's
  SameInteger,    ///< all operands of one integer type or Bool, which is the result's
  SameAny,        ///< all operands of one type, which is the result's
  Compare,        ///< operands of one type, result Bool
  Choose,         ///< first operand Bool, the others of one type, which is the result's
  Shift,          ///< integer, amount of the same type
  IndexResult,    ///< Sort: result I32
  FirstIndexed,   ///< Gather: type of operand 0, index integer; Scatter: dest and update alike, index integer
};

/// A closed interval of real numbers; nan says that NaN is possible too. Bounds are of the exact result: rounding to a
/// type, overflow and the wrapping of integers are the caller's.
struct RealRange {
  double lo = -HUGE_VAL;
  double hi = HUGE_VAL;
  bool nan = true;
};

/// What one pointwise primitive computes. A null entry: not defined for that kind of number.
struct Evaluator {
  double (*f64)(const double* x) = nullptr;              ///< over the reals, in double
  float (*f32)(const float* x) = nullptr;                ///< bit-exact meaning in f32, also for narrower floats
  std::int64_t (*integer)(const std::int64_t* x) = nullptr;  ///< 64 bits wrapping; the caller wraps to the type
  RealRange (*range)(const RealRange* x) = nullptr;      ///< of the result from the operands' (Shift: y as signed)
  std::int64_t (*u64)(const std::int64_t* x) = nullptr;  ///< U64 bit patterns, where signed 64 bits differ
};

namespace eval {
// One struct an operation: real() for float and double, integer(), range(). Defined in primitives.cpp.
#define LUM_EVALUATOR(name) extern const Evaluator name;
LUM_EVALUATOR(kNone) LUM_EVALUATOR(kLog2) LUM_EVALUATOR(kExp2) LUM_EVALUATOR(kSin)
LUM_EVALUATOR(kSqrt) LUM_EVALUATOR(kRecip) LUM_EVALUATOR(kFloor) LUM_EVALUATOR(kRound)
LUM_EVALUATOR(kAdd) LUM_EVALUATOR(kMul) LUM_EVALUATOR(kMod) LUM_EVALUATOR(kIntDiv)
LUM_EVALUATOR(kMaximum) LUM_EVALUATOR(kLessThan) LUM_EVALUATOR(kBitAnd) LUM_EVALUATOR(kBitXor)
LUM_EVALUATOR(kShift) LUM_EVALUATOR(kIdentity)
#undef LUM_EVALUATOR
}  // namespace eval

// A C spelling uses $0 $1 $2 for the operands. Functions named lum_* are defined by the code generator's prelude
// for scalars and for vectors alike. "" means that the family has its own rendering.
// id, text, family, arity, dtype rule, C spelling, evaluator, documentation
#define LUM_PRIMITIVES(ROW)                                                                              \
  ROW(Input, "input", Source, 0, Given, "", kNone, "a buffer given from outside: input, weight or state") \
  ROW(Constant, "const", Source, 0, Given, "", kNone, "numbers written in the program")                  \
  ROW(Iota, "iota", Source, 0, Given, "", kNone, "an integer expression of coordinates and symbols")     \
  ROW(Log2, "log2", Map, 1, SameFloat, "lum_log2($0)", kLog2, "base-2 logarithm; NaN below 0, -inf at 0") \
  ROW(Exp2, "exp2", Map, 1, SameFloat, "lum_exp2($0)", kExp2, "2 to the power x")                        \
  ROW(Sin, "sin", Map, 1, SameFloat, "lum_sin($0)", kSin, "sine of radians")                             \
  ROW(Sqrt, "sqrt", Map, 1, SameFloat, "lum_sqrt($0)", kSqrt, "square root, correctly rounded")          \
  ROW(Recip, "recip", Map, 1, SameFloat, "lum_recip($0)", kRecip, "1/x, correctly rounded")              \
  ROW(Floor, "floor", Map, 1, SameFloat, "lum_floor($0)", kFloor, "greatest integer not above x")        \
  ROW(Round, "round", Map, 1, SameFloat, "lum_round($0)", kRound, "nearest integer, half to even")       \
  ROW(Add, "add", Map, 2, SameNumber, "($0 + $1)", kAdd, "sum; integers wrap")                           \
  ROW(Mul, "mul", Map, 2, SameNumber, "($0 * $1)", kMul, "product; integers wrap")                       \
  ROW(Mod, "mod", Map, 2, SameNumber, "lum_mod($0, $1)", kMod,                                           \
      "x - floor(x/y)*y in one rounding (fma), plus y if its sign is not y's: as Python while |x/y| < 2^24; " \
      "integers: 0 for divisor 0")                                                                       \
  ROW(IntDiv, "intdiv", Map, 2, SameInteger, "lum_intdiv($0, $1)", kIntDiv,                              \
      "floor(x/y); 0 for divisor 0; the lowest number divided by -1 wraps")                              \
  ROW(Maximum, "maximum", Map, 2, SameNumber, "lum_maximum($0, $1)", kMaximum,                           \
      "the greater one; NaN if either is NaN; +0 is above -0")                                           \
  ROW(LessThan, "less", Map, 2, Compare, "lum_less($0, $1)", kLessThan, "x < y; false if either is NaN") \
  ROW(BitAnd, "bitand", Map, 2, SameInteger, "($0 & $1)", kBitAnd, "bitwise and; logical on Bool")       \
  ROW(BitXor, "bitxor", Map, 2, SameInteger, "($0 ^ $1)", kBitXor, "bitwise exclusive or; Bool too")     \
  ROW(Shift, "shift", Map, 2, Shift, "lum_shift($0, $1)", kShift,                                        \
      "left by y, right by -y (arithmetic for signed types); y counts as signed in unsigned types too; "  \
      "by the width or more: 0 or the sign")                                                             \
  ROW(Select, "select", Map, 3, Choose, "lum_select($0, $1, $2)", kNone, "y where x, else z")            \
  ROW(Cast, "cast", Map, 1, Given, "", kNone,                                                            \
      "to another type: floats round to nearest even; float to integer truncates and saturates, NaN is 0; " \
      "integers wrap; Bool is x != 0")                                                                   \
  ROW(Bitcast, "bitcast", Map, 1, Given, "", kNone, "the same bits as another type of the same width")   \
  ROW(Detach, "detach", Map, 1, SameAny, "$0", kIdentity, "x; no gradient flows through")                \
  ROW(Pin, "pin", Map, 1, SameAny, "$0", kIdentity, "x; no law looks through")                           \
  ROW(SumReduce, "sum", Reduce, 1, SameNumber, "", kAdd,                                                 \
      "sum over axes; 16-bit and narrower floats accumulate in f32, one rounding; empty: 0")             \
  ROW(MaxReduce, "max", Reduce, 1, SameNumber, "", kMaximum,                                             \
      "greatest over axes; NaN wins; empty: -inf, or the lowest number of the type")                     \
  ROW(View, "view", View, 1, SameAny, "", kNone, "element map(coordinates) of the operand")              \
  ROW(Gather, "gather", Gather, 2, FirstIndexed, "", kNone,                                              \
      "rows of an axis by index, clamped to the axis")                                                   \
  ROW(Scatter, "scatter", Scatter, 3, FirstIndexed, "", kNone,                                           \
      "(dest, index, update): rows written at index; set: the last write wins; an index outside is dropped") \
  ROW(Sort, "sort", Sort, 1, IndexResult, "", kNone,                                                     \
      "indices that sort an axis ascending: stable, NaN last, -0 equals +0")                             \
  ROW(Scan, "scan", Scan, -1, SameNumber, "", kNone,                                                     \
      "inclusive running sum, maximum, or s' = a*s + b of operands (a, b) from 0")

enum class Prim : std::uint8_t {
#define LUM_ROW(id, ...) id,
  LUM_PRIMITIVES(LUM_ROW)
#undef LUM_ROW
};

struct PrimInfo {
  Prim prim;
  std::string_view name;  ///< in `.lum`, in Python, in messages
  Family family;
  int arity;  ///< -1: one or two (Scan)
  DTypeRule dtype_rule;
  std::string_view c_spelling;
  const Evaluator* evaluator;
  std::string_view doc;
};

inline constexpr std::array kPrimitives = {
#define LUM_ROW(id, name, family, arity, rule, c, evaluator, doc)                              \
  PrimInfo{Prim::id, name, Family::family, arity, DTypeRule::rule, c, &eval::evaluator, doc},
    LUM_PRIMITIVES(LUM_ROW)
#undef LUM_ROW
};

constexpr const PrimInfo& prim_info(Prim prim) {
  return kPrimitives[static_cast<std::size_t>(prim)];
}
std::optional<Prim> prim_of_name(std::string_view name);

/// A pointwise primitive on numbers of an integer type or Bool: operands and result as decode_integer gives them.
/// Wraps to the type; LessThan gives 0 or 1.
std::int64_t evaluate_integer(Prim prim, DType dtype, const std::int64_t* x);

}  // namespace luminal::ir
