// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/polynomials.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "luminal/base/cat.h"
#include "luminal/base/check.h"

namespace luminal::ir {
namespace {

constexpr std::size_t kMaxSteps = 128;

// Writing a polynomial: terms of type F and I append steps to a list.

struct Writer {
  std::vector<Step> steps;

  std::uint8_t push(StepOp op, std::array<std::uint8_t, 4> operands, std::uint32_t bits = 0) {
    LUM_CHECK(steps.size() < kMaxSteps);
    steps.push_back(Step{op, operands, bits});
    return static_cast<std::uint8_t>(steps.size() - 1);
  }
};

struct F {
  Writer* writer;
  std::uint8_t step;
};

struct I {
  Writer* writer;
  std::uint8_t step;
};

F constant(Writer& writer, float value) {
  return {&writer, writer.push(StepOp::Float, {}, std::bit_cast<std::uint32_t>(value))};
}
I constant(Writer& writer, std::int32_t value) {
  return {&writer, writer.push(StepOp::Int, {}, static_cast<std::uint32_t>(value))};
}

F operator+(F a, F b) { return {a.writer, a.writer->push(StepOp::Add, {a.step, b.step})}; }
F operator-(F a, F b) { return {a.writer, a.writer->push(StepOp::Sub, {a.step, b.step})}; }
F operator*(F a, F b) { return {a.writer, a.writer->push(StepOp::Mul, {a.step, b.step})}; }
F operator+(F a, float b) { return a + constant(*a.writer, b); }
F operator*(F a, float b) { return a * constant(*a.writer, b); }
F fma(F a, F b, F c) { return {a.writer, a.writer->push(StepOp::Fma, {a.step, b.step, c.step})}; }
F fma(F a, float b, F c) { return fma(a, constant(*a.writer, b), c); }
F fma(F a, F b, float c) { return fma(a, b, constant(*a.writer, c)); }
F round(F a) { return {a.writer, a.writer->push(StepOp::Round, {a.step})}; }
I to_int(F a) { return {a.writer, a.writer->push(StepOp::ToInt, {a.step})}; }
F to_float(I a) { return {a.writer, a.writer->push(StepOp::ToFloat, {a.step})}; }
I bits_of(F a) { return {a.writer, a.writer->push(StepOp::Bits, {a.step})}; }
F of_bits(I a) { return {a.writer, a.writer->push(StepOp::OfBits, {a.step})}; }
I int_op(StepOp op, I a, I b) { return {a.writer, a.writer->push(op, {a.step, b.step})}; }
I int_op(StepOp op, I a, std::int32_t b) { return int_op(op, a, constant(*a.writer, b)); }
I operator+(I a, std::int32_t b) { return int_op(StepOp::IntAdd, a, b); }
I operator-(I a, I b) { return int_op(StepOp::IntSub, a, b); }
I operator-(I a, std::int32_t b) { return int_op(StepOp::IntSub, a, b); }
I operator&(I a, std::int32_t b) { return int_op(StepOp::IntAnd, a, b); }
I operator<<(I a, int b) { return int_op(StepOp::ShiftLeft, a, b); }
I operator>>(I a, int b) { return int_op(StepOp::ShiftRight, a, b); }
/// c where a < b; d elsewhere and where a or b is NaN.
F select_less(F a, F b, F c, F d) {
  return {a.writer, a.writer->push(StepOp::SelectLess, {a.step, b.step, c.step, d.step})};
}

/// coefficients[0] + x * (coefficients[1] + x * ..)
F horner(F x, std::span<const float> coefficients) {
  F sum = constant(*x.writer, coefficients.back());
  for (std::size_t k = coefficients.size() - 1; k-- > 0;) sum = fma(sum, x, coefficients[k]);
  return sum;
}

// Coefficients: testdata/fit_polynomials.py.
constexpr float kExp2[] = {0x1.62e430p-1f, 0x1.ebfbdcp-3f,  0x1.c6af7cp-5f,
                           0x1.3b2de0p-7f, 0x1.5f082ep-10f, 0x1.416b52p-13f};
constexpr float kLog2High = 0x1.715476p+0f;  // log2(e) in two parts
constexpr float kLog2Low = 0x1.4ae0c0p-26f;
constexpr float kLog2[] = {-0x1.715472p-1f, 0x1.ec7086p-2f,  -0x1.7159c2p-2f,
                           0x1.2781dcp-2f,  -0x1.eaddecp-3f, 0x1.a28cecp-3f,
                           -0x1.85dc6ap-3f, 0x1.7fb842p-3f,  -0x1.cee55ap-4f};
constexpr float kSin[] = {-0x1.555556p-3f, 0x1.111166p-7f, -0x1.a04726p-13f, 0x1.76d16cp-19f};
constexpr float kCos[] = {0x1.555556p-5f, -0x1.6c174cp-10f, 0x1.a05d5ap-16f, -0x1.30a16cp-22f};
constexpr float kHalfPi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
constexpr float kTwoOverPi = 0x1.45f306p-1f;

constexpr float kInfinity = HUGE_VALF;

/// 2^x = 2^n * (1 + r * P(r)), n = round(x). The scale is applied in two halves, so that it is
/// always a normal number and a subnormal result is rounded once.
F write_exp2(F x) {
  Writer& w = *x.writer;
  const F low = constant(w, -151.0f);
  const F high = constant(w, 129.0f);
  const F above = select_less(low, x, x, low);
  const F inside = select_less(above, high, above, high);
  const F n = round(inside);
  const F r = inside - n;
  const F mantissa = fma(horner(r, kExp2), r, 1.0f);
  const I whole = to_int(n);
  const I half = whole >> 1;
  const F first = of_bits((half + 127) << 23);
  const F second = of_bits(((whole - half) + 127) << 23);
  const F y = mantissa * first * second;
  return select_less(x, constant(w, 128.0f), y, x + kInfinity);
}

/// log2(x) = e + log2(1 + f), 1 + f in [sqrt(1/2), sqrt(2)): the leading product f * log2(e) is
/// exact in two parts.
F write_log2(F x) {
  Writer& w = *x.writer;
  constexpr std::int32_t kSqrtHalfBits = 0x3f3504f3;
  const F zero = constant(w, 0.0f);
  const F one = constant(w, 1.0f);
  const F smallest = constant(w, 0x1p-126f);
  const F positive = select_less(zero, x, x, one);
  const F normal = select_less(positive, smallest, positive * 0x1p25f, positive);
  const F lift = select_less(positive, smallest, constant(w, -25.0f), zero);
  const I bits = bits_of(normal);
  const I above = bits - kSqrtHalfBits;
  const F e = to_float(above >> 23) + lift;
  const F f = of_bits(bits - (above & static_cast<std::int32_t>(0xff800000))) - one;
  const F high = f * kLog2High;
  const F missing = fma(f, -kLog2High, high);
  const F square = f * f;
  const F square_low = fma(f, f, zero - square);
  const F rest = fma(square_low, kLog2[0], fma(f, kLog2Low, zero - missing));
  const F low = fma(square, horner(f, kLog2), rest);
  const F sum = e + high;
  const F sum_low = high - (sum - e);
  const F y = sum + (sum_low + low);
  const F below = select_less(x, zero, constant(w, std::nanf("")), x + -kInfinity);
  const F finite_or_nan = select_less(zero, x, y, below);
  const F infinity = constant(w, kInfinity);
  return select_less(finite_or_nan, infinity, select_less(x, infinity, finite_or_nan, x),
                     finite_or_nan);
}

/// x = n * pi/2 + r + low, by three parts of pi/2 and an error-free sum; then sine or cosine of r
/// by n mod 4.
F write_sin(F x) {
  Writer& w = *x.writer;
  const F magnitude = of_bits(bits_of(x) & 0x7fffffff);
  const F inside = select_less(magnitude, constant(w, 0x1p30f), x, constant(w, 0.0f));
  const F n = round(inside * kTwoOverPi);
  const F first = fma(n, -kHalfPi[0], inside);  // exact up to 2^20
  const F product = n * kHalfPi[1];
  const F product_low = fma(n, kHalfPi[1], constant(w, 0.0f) - product);
  const F r = first - product;
  const F back = r - first;
  const F sum_low = (first - (r - back)) - (product + back);
  const F low = fma(n, -kHalfPi[2], sum_low - product_low);
  const F square = r * r;
  const F square_low = fma(r, r, constant(w, 0.0f) - square);

  const F sine = r + fma(square * r, horner(square, kSin), low);

  const F one = constant(w, 1.0f);
  const F leading = fma(square, -0.5f, one);
  const F leading_low = fma(square, -0.5f, one - leading);
  const F slope = fma(r, constant(w, 0.0f) - low, fma(square_low, -0.5f, leading_low));
  const F cosine = leading + fma(square * square, horner(square, kCos), slope);

  const I quadrant = to_int(n);
  const F odd = to_float(quadrant & 1);
  const F sign = one - to_float(quadrant & 2);
  const F y = select_less(odd, constant(w, 0.5f), sine, cosine) * sign;
  const F minus_one = constant(w, -1.0f);
  const F upper = select_less(y, one, y, one);
  const F clamped = select_less(minus_one, upper, upper, minus_one);
  const F small = select_less(magnitude, constant(w, 0x1p-12f), x, clamped);
  return select_less(magnitude, constant(w, kInfinity), small, x - x);
}

Polynomial make(std::string_view name, F (*write)(F)) {
  Writer writer;
  const F x{&writer, writer.push(StepOp::Argument, {})};
  const F y = write(x);
  LUM_CHECK(y.step + 1u == writer.steps.size(), name, ": the last step is not the result");
  return {name, std::move(writer.steps)};
}

// Evaluation, a block of lanes at a time.

template <std::size_t kCount>
union Lanes {
  float f[kCount];
  std::int32_t i[kCount];
  std::uint32_t u[kCount];
};

#define LUM_EACH(expression)                           \
  for (std::size_t k = 0; k < kCount; ++k) expression; \
  break

/// One step over all lanes. Integers wrap, as two's complement machines do.
template <std::size_t kCount>
[[gnu::always_inline]] inline void run_step(const Step& step, const Lanes<kCount>* values,
                                            Lanes<kCount>& y) {
  const Lanes<kCount>& a = values[step.operands[0]];
  const Lanes<kCount>& b = values[step.operands[1]];
  const Lanes<kCount>& c = values[step.operands[2]];
  const Lanes<kCount>& d = values[step.operands[3]];
  switch (step.op) {
    case StepOp::Argument:
      break;
    case StepOp::Float:
    case StepOp::Int:
      LUM_EACH(y.u[k] = step.bits);
    case StepOp::Add:
      LUM_EACH(y.f[k] = a.f[k] + b.f[k]);
    case StepOp::Sub:
      LUM_EACH(y.f[k] = a.f[k] - b.f[k]);
    case StepOp::Mul:
      LUM_EACH(y.f[k] = a.f[k] * b.f[k]);
    case StepOp::Fma:
      LUM_EACH(y.f[k] = std::fma(a.f[k], b.f[k], c.f[k]));
    case StepOp::Round:
      LUM_EACH(y.f[k] = std::nearbyint(a.f[k]));
    case StepOp::ToInt:
      LUM_EACH(y.i[k] = static_cast<std::int32_t>(a.f[k]));
    case StepOp::ToFloat:
      LUM_EACH(y.f[k] = static_cast<float>(a.i[k]));
    case StepOp::Bits:
    case StepOp::OfBits:
      LUM_EACH(y.u[k] = a.u[k]);
    case StepOp::IntAdd:
      LUM_EACH(y.u[k] = a.u[k] + b.u[k]);
    case StepOp::IntSub:
      LUM_EACH(y.u[k] = a.u[k] - b.u[k]);
    case StepOp::IntAnd:
      LUM_EACH(y.u[k] = a.u[k] & b.u[k]);
    case StepOp::ShiftLeft:
      LUM_EACH(y.u[k] = a.u[k] << b.u[k]);
    case StepOp::ShiftRight:
      LUM_EACH(y.i[k] = a.i[k] >> b.u[k]);
    case StepOp::SelectLess:
      LUM_EACH(y.f[k] = a.f[k] < b.f[k] ? c.f[k] : d.f[k]);
  }
}
#undef LUM_EACH

template <std::size_t kCount>
[[gnu::always_inline]] inline void run_blocks(const Polynomial& polynomial, const float* x,
                                              float* y, std::size_t count) {
  Lanes<kCount> values[kMaxSteps];
  const std::size_t steps = polynomial.steps.size();
  for (std::size_t begin = 0; begin < count; begin += kCount) {
    const std::size_t lanes = std::min(kCount, count - begin);
    std::fill_n(values[0].f, kCount, 0.0f);
    std::copy_n(x + begin, lanes, values[0].f);
    for (std::size_t k = 1; k < steps; ++k) {
      run_step<kCount>(polynomial.steps[k], values, values[k]);
    }
    std::copy_n(values[steps - 1].f, lanes, y + begin);
  }
}

constexpr std::size_t kBlock = 64;

void run_plain(const Polynomial& polynomial, const float* x, float* y, std::size_t count) {
  run_blocks<kBlock>(polynomial, x, y, count);
}

// The same steps compiled for a machine with fma: the same bits, many times as fast.
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void run_fast(const Polynomial& polynomial, const float* x, float* y,
                                          std::size_t count) {
  run_blocks<kBlock>(polynomial, x, y, count);
}
bool can_run_fast() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
void run_fast(const Polynomial& polynomial, const float* x, float* y, std::size_t count) {
  run_plain(polynomial, x, y, count);
}
bool can_run_fast() { return false; }
#endif

std::string float_literal(std::uint32_t bits, const LaneSpelling& spelling) {
  const auto value = std::bit_cast<float>(bits);
  if (!std::isfinite(value)) return cat("lum_float((", spelling.int_type, ")(", bits, "))");
  char text[32];
  std::snprintf(text, sizeof text, "%af", static_cast<double>(value));
  return cat("(", spelling.float_type, ")(", text, ")");
}

struct OpSpelling {
  bool is_float;
  std::string_view text;  ///< $0 .. $3: operands
};

OpSpelling op_spelling(StepOp op) {
  switch (op) {
    case StepOp::Argument:
      return {true, "x"};
    case StepOp::Float:
      return {true, ""};
    case StepOp::Int:
      return {false, ""};
    case StepOp::Add:
      return {true, "$0 + $1"};
    case StepOp::Sub:
      return {true, "$0 - $1"};
    case StepOp::Mul:
      return {true, "$0 * $1"};
    case StepOp::Fma:
      return {true, "lum_fma($0, $1, $2)"};
    case StepOp::Round:
      return {true, "lum_round($0)"};
    case StepOp::ToInt:
      return {false, "lum_f2i($0)"};
    case StepOp::ToFloat:
      return {true, "lum_i2f($0)"};
    case StepOp::Bits:
      return {false, "lum_bits($0)"};
    case StepOp::OfBits:
      return {true, "lum_float($0)"};
    case StepOp::IntAdd:
      return {false, "$0 + $1"};
    case StepOp::IntSub:
      return {false, "$0 - $1"};
    case StepOp::IntAnd:
      return {false, "$0 & $1"};
    case StepOp::ShiftLeft:
      return {false, "$0 << $1"};
    case StepOp::ShiftRight:
      return {false, "$0 >> $1"};
    case StepOp::SelectLess:
      return {true, "lum_select(lum_less($0, $1), $2, $3)"};
  }
  return {};
}

std::string step_text(const Step& step, const LaneSpelling& spelling) {
  if (step.op == StepOp::Float) return float_literal(step.bits, spelling);
  if (step.op == StepOp::Int) {
    return cat("(", spelling.int_type, ")(", static_cast<std::int32_t>(step.bits), ")");
  }
  std::string text;
  const std::string_view pattern = op_spelling(step.op).text;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern[k] == '$') {
      text += cat("v", static_cast<int>(step.operands[pattern[++k] - '0']));
    } else {
      text += pattern[k];
    }
  }
  return text;
}

}  // namespace

const Polynomial& exp2_polynomial() {
  static const Polynomial polynomial = make("exp2", write_exp2);
  return polynomial;
}

const Polynomial& log2_polynomial() {
  static const Polynomial polynomial = make("log2", write_log2);
  return polynomial;
}

const Polynomial& sin_polynomial() {
  static const Polynomial polynomial = make("sin", write_sin);
  return polynomial;
}

const Polynomial* polynomial_of_name(std::string_view name) {
  for (const Polynomial* polynomial : {&exp2_polynomial(), &log2_polynomial(), &sin_polynomial()}) {
    if (polynomial->name == name) return polynomial;
  }
  return nullptr;
}

void evaluate(const Polynomial& polynomial, std::span<const float> x, std::span<float> y) {
  LUM_CHECK(x.size() == y.size(), polynomial.name, ": ", x.size(), " arguments, ", y.size(),
            " results");
  static const bool fast = can_run_fast();
  (fast ? run_fast : run_plain)(polynomial, x.data(), y.data(), x.size());
}

float evaluate(const Polynomial& polynomial, float x) {
  float y;
  run_blocks<1>(polynomial, &x, &y, 1);
  return y;
}

std::string polynomial_c(const Polynomial& polynomial, const LaneSpelling& spelling) {
  std::string text = cat(spelling.prefix, " ", spelling.float_type, " lum_", polynomial.name, "(",
                         spelling.float_type, " x) {\n");
  for (std::size_t k = 0; k < polynomial.steps.size(); ++k) {
    const Step& step = polynomial.steps[k];
    const bool is_float = op_spelling(step.op).is_float;
    text += cat("  const ", is_float ? spelling.float_type : spelling.int_type, " v", k, " = ",
                step_text(step, spelling), ";\n");
  }
  return text + cat("  return v", polynomial.steps.size() - 1, ";\n}\n");
}

}  // namespace luminal::ir
