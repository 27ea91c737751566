// SPDX-License-Identifier: MIT OR Apache-2.0
// For the tests of polynomials.h: the stated bounds, checked over every `step`-th of the 2^32
// arguments.
//
//   check_exp2(1);       // all of them, minutes
//   check_exp2(4099);    // a sample, well under a second
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "luminal/ir/polynomials.h"

namespace luminal::ir {

/// Distance of two floats from `expected` in units of the last place of an f32 near it.
inline double ulp_error(float result, double expected) {
  int exponent = 0;
  std::frexp(expected, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(static_cast<double>(result) - expected) / ulp;
}

struct WorstError {
  double ulps = 0;
  double absolute = 0;
  float ulps_at = 0;
  std::uint64_t wrong =
      0;  ///< NaN or infinity where there should be a number, or the other way round
};

/// The largest errors where the magnitude of x is in [low, high]; special values must be equal.
template <class Reference>
WorstError worst_error(const Polynomial& polynomial, Reference reference, std::uint32_t step,
                       float low, float high) {
  constexpr std::size_t kBatch = 1 << 14;
  WorstError worst;
  std::vector<float> x, y(kBatch);
  const auto flush = [&] {
    evaluate(polynomial, x, std::span(y).first(x.size()));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double expected = reference(static_cast<double>(x[k]));
      if (std::isnan(expected) != std::isnan(y[k]) ||
          std::isinf(static_cast<float>(expected)) != std::isinf(y[k])) {
        if (worst.wrong++ == 0) ADD_FAILURE() << polynomial.name << " of " << x[k] << ": " << y[k];
        continue;
      }
      if (std::isnan(expected) || std::isinf(y[k])) continue;
      worst.absolute = std::max(worst.absolute, std::fabs(y[k] - expected));
      const double ulps = ulp_error(y[k], expected);
      if (ulps > worst.ulps) worst.ulps = ulps, worst.ulps_at = x[k];
    }
    x.clear();
  };
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += step) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float magnitude = std::fabs(value);
    if (!std::isnan(value) && !(low <= magnitude && magnitude <= high)) continue;
    x.push_back(value);
    if (x.size() == kBatch) flush();
  }
  flush();
  testing::Test::RecordProperty(std::string(polynomial.name) + "_ulps", std::to_string(worst.ulps));
  return worst;
}

inline void check_exp2(std::uint32_t step) {
  const auto worst = worst_error(
      exp2_polynomial(), [](double x) { return std::exp2(x); }, step, 0, HUGE_VALF);
  EXPECT_LE(worst.ulps, 0.88) << "at " << worst.ulps_at;
}

inline void check_log2(std::uint32_t step) {
  const auto worst = worst_error(
      log2_polynomial(), [](double x) { return std::log2(x); }, step, 0, HUGE_VALF);
  EXPECT_LE(worst.ulps, 0.93) << "at " << worst.ulps_at;
}

inline void check_sin(std::uint32_t step) {
  const auto sine = [](double x) { return std::sin(x); };
  const auto near = worst_error(sin_polynomial(), sine, step, 0, 0x1p20f);
  EXPECT_LE(near.ulps, 0.83) << "at " << near.ulps_at;
  const auto middle = worst_error(sin_polynomial(), sine, step, 0x1p20f, 0x1p24f);
  EXPECT_LE(middle.absolute, 0x1p-16) << "from 2^20 to 2^24";
  const auto far = worst_error(
      sin_polynomial(), [](double x) { return x * 0; }, step, 0x1p24f, HUGE_VALF);
  EXPECT_LE(far.absolute, 1) << "above 2^24";
}

}  // namespace luminal::ir
