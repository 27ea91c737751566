// SPDX-License-Identifier: MIT OR Apache-2.0
// exp2, log2 and sin in f32, each as one list of straight-line steps without branches. The
// interpreter evaluates the list and the renderer prints it, so both compute the same bits wherever
// code is compiled with -ffp-contract=off.
//
// Largest error against the real value, over all 2^32 arguments (polynomials_slow_test.cpp):
//
// - exp2: 0.88 ulp, subnormal results too; exact for integers; 0 up to -150, infinite from 128 on.
// - log2: 0.93 ulp, subnormal arguments too; exact for powers of two; -inf at 0, NaN below.
// - sin: 0.83 ulp for |x| <= 2^20; 2^-16 absolute up to 2^24; no correct digits above, but a number
//   in [-1, 1], 0 from 2^30 on; sin(-0) = -0, NaN for infinities.
//
// Example: steps of a polynomial over one argument x
//   v0 = x;  v1 = round(v0);  v2 = v0 - v1;  v3 = 0x1.8p-1;  v4 = fma(v2, v3, v1)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::ir {

/// What one step computes from the values of earlier steps a, b, c, d. F: a float lane, I: a 32-bit
/// integer lane. The last column is what polynomial_c prints; the names must exist for the types
/// printed for:
///   lum_fma(F, F, F)      one rounding
///   lum_round(F)          to the nearest integer, half to even
///   lum_f2i(F) -> I       of a float that holds an integer below 2^31 in magnitude
///   lum_i2f(I) -> F       of an integer below 2^24 in magnitude
///   lum_bits(F) -> I      the same bits
///   lum_float(I) -> F     the same bits
///   lum_less(F, F)        a mask for lum_select; false where either is NaN
///   lum_select(m, F, F)   the first where the mask holds, else the second
/// and + - * on F, + - & << >> on I (>> keeps the sign; nothing overflows), and a cast of a literal
/// to the lane type, (F)(..) or (I)(..), which for vectors fills all lanes (clang's ext_vector_type
/// does).
enum class StepOp : std::uint8_t {
  Argument,    ///< F  x
  Float,       ///< F  lum_float((I)(0x..)) or (F)(0x1.8p+1f): the constant with these bits
  Int,         ///< I  (I)(..): the constant
  Add,         ///< F  a + b
  Sub,         ///< F  a - b
  Mul,         ///< F  a * b
  Fma,         ///< F  lum_fma(a, b, c)
  Round,       ///< F  lum_round(a)
  ToInt,       ///< I  lum_f2i(a)
  ToFloat,     ///< F  lum_i2f(a)
  Bits,        ///< I  lum_bits(a)
  OfBits,      ///< F  lum_float(a)
  IntAdd,      ///< I  a + b
  IntSub,      ///< I  a - b
  IntAnd,      ///< I  a & b
  ShiftLeft,   ///< I  a << b, b a constant step
  ShiftRight,  ///< I  a >> b, b a constant step
  SelectLess,  ///< F  lum_select(lum_less(a, b), c, d)
};

struct Step {
  StepOp op = StepOp::Argument;
  std::array<std::uint8_t, 4> operands{};  ///< numbers of earlier steps
  std::uint32_t bits = 0;                  ///< Float, Int
};

/// Step 0 is the argument; the last step is the result.
struct Polynomial {
  std::string_view name;
  std::vector<Step> steps;
};

const Polynomial& exp2_polynomial();
const Polynomial& log2_polynomial();
const Polynomial& sin_polynomial();
/// The polynomial that computes the primitive of that name, or null.
const Polynomial* polynomial_of_name(std::string_view name);

/// The polynomial at each x, bit for bit what the printed code computes (a NaN's sign and payload
/// apart).
void evaluate(const Polynomial& polynomial, std::span<const float> x, std::span<float> y);
float evaluate(const Polynomial& polynomial, float x);

/// How a C dialect spells a function over lanes.
struct LaneSpelling {
  std::string float_type = "float";
  std::string int_type = "int";
  std::string prefix = "static inline";  ///< before the return type
};

/// The C function `lum_<name>(F x)`, one line a step.
std::string polynomial_c(const Polynomial& polynomial, const LaneSpelling& spelling = {});

}  // namespace luminal::ir
