// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/primitives.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "luminal/base/check.h"
#include "luminal/ir/polynomials.h"

namespace luminal::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Int = std::int64_t;
using Word = std::uint64_t;

Int wrapped(Word value) { return static_cast<Int>(value); }

bool has_infinity(const RealRange& x) { return x.lo == -kInfinity || x.hi == kInfinity; }
bool has_zero(const RealRange& x) { return x.lo <= 0 && x.hi >= 0; }

/// Bounds that allow for the last place of a library function.
RealRange widened(double lo, double hi, bool nan) {
  return {std::nextafter(lo, -kInfinity), std::nextafter(hi, kInfinity), nan};
}

double log2_f64(const double* x) { return std::log2(x[0]); }
float log2_f32(const float* x) { return evaluate(log2_polynomial(), x[0]); }
RealRange log2_range(const RealRange* x) {
  const RealRange& a = x[0];
  if (a.hi < 0) return {};
  const double lo = std::log2(std::max(a.lo, 0.0));
  return widened(lo, std::log2(a.hi), a.nan || a.lo < 0);
}

double exp2_f64(const double* x) { return std::exp2(x[0]); }
float exp2_f32(const float* x) { return evaluate(exp2_polynomial(), x[0]); }
RealRange exp2_range(const RealRange* x) {
  // 2^0 is exact: factors of repaired sums stay within [0, 1].
  const double lo = std::exp2(x[0].lo);
  const double hi = std::exp2(x[0].hi);
  return {x[0].lo == 0 ? 1 : std::max(0.0, std::nextafter(lo, 0.0)),
          x[0].hi == 0 ? 1 : std::nextafter(hi, kInfinity), x[0].nan};
}

double sin_f64(const double* x) { return std::sin(x[0]); }
float sin_f32(const float* x) { return evaluate(sin_polynomial(), x[0]); }
RealRange sin_range(const RealRange* x) { return {-1, 1, x[0].nan || has_infinity(x[0])}; }

double sqrt_f64(const double* x) { return std::sqrt(x[0]); }
float sqrt_f32(const float* x) { return std::sqrt(x[0]); }
RealRange sqrt_range(const RealRange* x) {
  const RealRange& a = x[0];
  if (a.hi < 0) return {};
  return {std::max(0.0, std::nextafter(std::sqrt(std::max(a.lo, 0.0)), 0.0)),
          std::nextafter(std::sqrt(a.hi), kInfinity), a.nan || a.lo < 0};
}

double recip_f64(const double* x) { return 1 / x[0]; }
float recip_f32(const float* x) { return 1 / x[0]; }
RealRange recip_range(const RealRange* x) {
  if (has_zero(x[0])) return {-kInfinity, kInfinity, x[0].nan};
  return widened(1 / x[0].hi, 1 / x[0].lo, x[0].nan);
}

double floor_f64(const double* x) { return std::floor(x[0]); }
float floor_f32(const float* x) { return std::floor(x[0]); }
RealRange floor_range(const RealRange* x) {
  return {std::floor(x[0].lo), std::floor(x[0].hi), x[0].nan};
}

double round_f64(const double* x) { return std::nearbyint(x[0]); }
float round_f32(const float* x) { return std::nearbyint(x[0]); }
RealRange round_range(const RealRange* x) {
  return {std::nearbyint(x[0].lo), std::nearbyint(x[0].hi), x[0].nan};
}

double add_f64(const double* x) { return x[0] + x[1]; }
float add_f32(const float* x) { return x[0] + x[1]; }
Int add_integer(const Int* x) { return wrapped(static_cast<Word>(x[0]) + static_cast<Word>(x[1])); }
RealRange add_range(const RealRange* x) {
  const bool up = x[0].hi == kInfinity || x[1].hi == kInfinity;
  const bool down = x[0].lo == -kInfinity || x[1].lo == -kInfinity;
  const bool opposed = (x[0].hi == kInfinity && x[1].lo == -kInfinity) ||
                       (x[0].lo == -kInfinity && x[1].hi == kInfinity);
  return {down ? -kInfinity : x[0].lo + x[1].lo, up ? kInfinity : x[0].hi + x[1].hi,
          x[0].nan || x[1].nan || opposed};
}

double mul_f64(const double* x) { return x[0] * x[1]; }
float mul_f32(const float* x) { return x[0] * x[1]; }
Int mul_integer(const Int* x) { return wrapped(static_cast<Word>(x[0]) * static_cast<Word>(x[1])); }
RealRange mul_range(const RealRange* x) {
  const auto product = [](double a, double b) { return a == 0 || b == 0 ? 0 : a * b; };
  const auto [lo, hi] = std::minmax({product(x[0].lo, x[1].lo), product(x[0].lo, x[1].hi),
                                     product(x[0].hi, x[1].lo), product(x[0].hi, x[1].hi)});
  const bool undefined =
      (has_zero(x[0]) && has_infinity(x[1])) || (has_infinity(x[0]) && has_zero(x[1]));
  return {lo, hi, x[0].nan || x[1].nan || undefined};
}

/// The quotient is at most one too large, when x/y rounds up to an integer: then the rest has the
/// wrong sign.
template <class Number>
Number float_mod(const Number* x) {
  const Number rest = std::fma(-std::floor(x[0] / x[1]), x[1], x[0]);
  const bool wrong_sign = x[1] < 0 ? rest > 0 : rest < 0;
  return wrong_sign ? rest + x[1] : rest;
}
Int mod_integer(const Int* x) {
  if (x[1] == 0 || x[1] == -1) return 0;
  const Int rest = x[0] % x[1];
  return rest != 0 && (rest < 0) != (x[1] < 0) ? rest + x[1] : rest;
}
Int mod_u64(const Int* x) {
  return x[1] == 0 ? 0 : wrapped(static_cast<Word>(x[0]) % static_cast<Word>(x[1]));
}
RealRange mod_range(const RealRange* x) {
  const bool nan =
      x[0].nan || x[1].nan || has_infinity(x[0]) || has_infinity(x[1]) || has_zero(x[1]);
  if (x[0].lo >= 0 && x[0].hi < x[1].lo) return {x[0].lo, x[0].hi, nan};
  return {std::min(0.0, x[1].lo), std::max(0.0, x[1].hi), nan};
}

Int intdiv_integer(const Int* x) {
  if (x[1] == 0) return 0;
  if (x[1] == -1) return wrapped(0 - static_cast<Word>(x[0]));
  const Int quotient = x[0] / x[1];
  return (x[0] % x[1] != 0) && ((x[0] < 0) != (x[1] < 0)) ? quotient - 1 : quotient;
}
Int intdiv_u64(const Int* x) {
  return x[1] == 0 ? 0 : wrapped(static_cast<Word>(x[0]) / static_cast<Word>(x[1]));
}
RealRange intdiv_range(const RealRange* x) {
  if (has_zero(x[1])) {
    const double most = std::max(std::fabs(x[0].lo), std::fabs(x[0].hi));
    return {x[0].lo >= 0 && x[1].lo >= 0 ? 0 : -most, most, false};
  }
  const auto quotient = [](double a, double b) {
    return std::isinf(b) ? ((a < 0) != (b < 0) && a != 0 ? -1.0 : 0.0) : std::floor(a / b);
  };
  const auto [lo, hi] = std::minmax({quotient(x[0].lo, x[1].lo), quotient(x[0].lo, x[1].hi),
                                     quotient(x[0].hi, x[1].lo), quotient(x[0].hi, x[1].hi)});
  return {lo, hi, false};
}

template <class Number>
Number float_maximum(const Number* x) {
  if (std::isnan(x[0])) return x[0];
  if (std::isnan(x[1])) return x[1];
  if (x[0] == x[1]) return std::signbit(x[0]) ? x[1] : x[0];
  return x[0] > x[1] ? x[0] : x[1];
}
Int maximum_integer(const Int* x) { return std::max(x[0], x[1]); }
Int maximum_u64(const Int* x) {
  return static_cast<Word>(x[0]) > static_cast<Word>(x[1]) ? x[0] : x[1];
}
RealRange maximum_range(const RealRange* x) {
  return {std::max(x[0].lo, x[1].lo), std::max(x[0].hi, x[1].hi), x[0].nan || x[1].nan};
}

double less_f64(const double* x) { return x[0] < x[1] ? 1 : 0; }
float less_f32(const float* x) { return x[0] < x[1] ? 1.0f : 0.0f; }
Int less_integer(const Int* x) { return x[0] < x[1] ? 1 : 0; }
Int less_u64(const Int* x) { return static_cast<Word>(x[0]) < static_cast<Word>(x[1]) ? 1 : 0; }
RealRange less_range(const RealRange* x) {
  const bool always = x[0].hi < x[1].lo && !x[0].nan && !x[1].nan;
  const bool never = x[0].lo >= x[1].hi;
  return {always ? 1.0 : 0.0, never ? 0.0 : 1.0, false};
}

Int bitand_integer(const Int* x) { return x[0] & x[1]; }
RealRange bitand_range(const RealRange* x) {
  if (x[0].lo < 0 && x[1].lo < 0) return {-kInfinity, kInfinity, false};
  double hi = kInfinity;
  if (x[0].lo >= 0) hi = std::min(hi, x[0].hi);
  if (x[1].lo >= 0) hi = std::min(hi, x[1].hi);
  return {0, hi, false};
}

Int bitxor_integer(const Int* x) { return x[0] ^ x[1]; }
RealRange bitxor_range(const RealRange* x) {
  if (x[0].lo < 0 || x[1].lo < 0) return {-kInfinity, kInfinity, false};
  double above = 1;  // a power of two that neither operand reaches
  const double most = std::max(x[0].hi, x[1].hi);
  while (above <= most) above *= 2;
  return {0, above - 1, false};
}

Int shift_integer(const Int* x) {
  const Int by = x[1];
  if (by >= 64) return 0;
  if (by >= 0) return wrapped(static_cast<Word>(x[0]) << by);
  return x[0] >> (by <= -64 ? 63 : -by);
}
Int shift_u64(const Int* x) {
  const Int by = x[1];
  if (by >= 64 || by <= -64) return 0;
  const Word value = static_cast<Word>(x[0]);
  return wrapped(by >= 0 ? value << by : value >> -by);
}
RealRange shift_range(const RealRange* x) {
  const RealRange& by = x[1];
  if (by.lo == by.hi && std::fabs(by.lo) < 64) {
    const int n = static_cast<int>(by.lo);
    return {std::floor(std::ldexp(x[0].lo, n)), std::floor(std::ldexp(x[0].hi, n)), false};
  }
  if (by.hi <= 0) return {std::min(x[0].lo, 0.0), std::max(x[0].hi, 0.0), false};
  return {-kInfinity, kInfinity, false};
}

template <class Number>
Number identity(const Number* x) {
  return x[0];
}

}  // namespace

namespace eval {
constexpr Evaluator kNone{};
constexpr Evaluator kLog2{log2_f64, log2_f32, nullptr, log2_range};
constexpr Evaluator kExp2{exp2_f64, exp2_f32, nullptr, exp2_range};
constexpr Evaluator kSin{sin_f64, sin_f32, nullptr, sin_range};
constexpr Evaluator kSqrt{sqrt_f64, sqrt_f32, nullptr, sqrt_range};
constexpr Evaluator kRecip{recip_f64, recip_f32, nullptr, recip_range};
constexpr Evaluator kFloor{floor_f64, floor_f32, nullptr, floor_range};
constexpr Evaluator kRound{round_f64, round_f32, nullptr, round_range};
constexpr Evaluator kAdd{add_f64, add_f32, add_integer, add_range};
constexpr Evaluator kMul{mul_f64, mul_f32, mul_integer, mul_range};
constexpr Evaluator kMod{float_mod, float_mod, mod_integer, mod_range, mod_u64};
constexpr Evaluator kIntDiv{nullptr, nullptr, intdiv_integer, intdiv_range, intdiv_u64};
constexpr Evaluator kMaximum{float_maximum, float_maximum, maximum_integer, maximum_range,
                             maximum_u64};
constexpr Evaluator kLessThan{less_f64, less_f32, less_integer, less_range, less_u64};
constexpr Evaluator kBitAnd{nullptr, nullptr, bitand_integer, bitand_range};
constexpr Evaluator kBitXor{nullptr, nullptr, bitxor_integer, bitxor_range};
constexpr Evaluator kShift{nullptr, nullptr, shift_integer, shift_range, shift_u64};
constexpr Evaluator kIdentity{identity, identity, identity, identity};
}  // namespace eval

namespace {

constexpr bool computes_floats(DTypeRule rule) {
  return rule == DTypeRule::SameFloat || rule == DTypeRule::SameNumber ||
         rule == DTypeRule::SameAny || rule == DTypeRule::Compare;
}
constexpr bool computes_integers(DTypeRule rule) {
  return rule == DTypeRule::SameInteger || rule == DTypeRule::SameNumber ||
         rule == DTypeRule::SameAny || rule == DTypeRule::Compare || rule == DTypeRule::Shift;
}

/// Rows that the interpreter spells itself have no evaluator; every other row has all that its
/// operands need.
constexpr bool row_is_complete(const PrimInfo& row) {
  if (row.name.empty() || row.doc.empty()) return false;
  const bool computes = row.family == Family::Map || row.family == Family::Reduce;
  const bool own = row.dtype_rule == DTypeRule::Given || row.dtype_rule == DTypeRule::Choose;
  if (!computes || own) return row.evaluator == &eval::kNone;
  if (row.family == Family::Map && row.c_spelling.empty()) return false;
  const Evaluator& evaluator = *row.evaluator;
  if (computes_floats(row.dtype_rule) && (!evaluator.f64 || !evaluator.f32)) return false;
  if (computes_integers(row.dtype_rule) && !evaluator.integer) return false;
  return evaluator.range != nullptr;
}

constexpr bool table_is_complete() {
  for (std::size_t k = 0; k < kPrimitives.size(); ++k) {
    if (static_cast<std::size_t>(kPrimitives[k].prim) != k) return false;
    if (!row_is_complete(kPrimitives[k])) return false;
  }
  return true;
}
static_assert(table_is_complete(), "a row of LUM_PRIMITIVES lacks something its family needs");

/// The same bits as the signed type of that width reads them.
Int as_signed(DType dtype, Int value) {
  const int unused = 64 - dtype_bits(dtype);
  return static_cast<Int>(static_cast<Word>(value) << unused) >> unused;
}

}  // namespace

std::optional<Prim> prim_of_name(std::string_view name) {
  for (const PrimInfo& info : kPrimitives) {
    if (info.name == name) return info.prim;
  }
  return std::nullopt;
}

std::int64_t evaluate_integer(Prim prim, DType dtype, const std::int64_t* x) {
  const PrimInfo& info = prim_info(prim);
  const Evaluator& evaluator = *info.evaluator;
  LUM_DCHECK(evaluator.integer, info.name, " is not defined on integers");
  const auto compute = dtype == DType::U64 && evaluator.u64 ? evaluator.u64 : evaluator.integer;
  if (info.dtype_rule == DTypeRule::Shift) {
    const Int operands[] = {x[0], as_signed(dtype, x[1])};
    return decode_integer(dtype, encode_integer(dtype, compute(operands)));
  }
  const Int result = compute(x);
  if (info.dtype_rule == DTypeRule::Compare) return result;
  return decode_integer(dtype, encode_integer(dtype, result));
}

}  // namespace luminal::ir
