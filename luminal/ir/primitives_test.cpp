// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/primitives.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace luminal::ir {
namespace {

constexpr float kInf = HUGE_VALF;
const float kNan = std::nanf("");
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

float f32(Prim prim, std::initializer_list<float> x) {
  return prim_info(prim).evaluator->f32(std::data(x));
}
double f64(Prim prim, std::initializer_list<double> x) {
  return prim_info(prim).evaluator->f64(std::data(x));
}
std::int64_t integer(Prim prim, DType dtype, std::initializer_list<std::int64_t> x) {
  return evaluate_integer(prim, dtype, std::data(x));
}

#define EXPECT_POSITIVE_ZERO(x) EXPECT_TRUE((x) == 0 && !std::signbit(x)) << (x)
#define EXPECT_NEGATIVE_ZERO(x) EXPECT_TRUE((x) == 0 && std::signbit(x)) << (x)
#define EXPECT_NAN(x) EXPECT_TRUE(std::isnan(x)) << (x)

TEST(PrimitivesTest, NamesAreUniqueAndReadBack) {
  std::set<std::string_view> names;
  for (const PrimInfo& info : kPrimitives) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(prim_of_name(info.name), info.prim);
    EXPECT_EQ(&prim_info(info.prim), &info);
    EXPECT_EQ(info.doc.find('\n'), std::string_view::npos);
  }
  EXPECT_EQ(prim_of_name("matmul"), std::nullopt);
}

TEST(PrimitivesTest, SpellingsUseEachOperandOfTheirArity) {
  for (const PrimInfo& info : kPrimitives) {
    if (info.family != Family::Map || info.c_spelling.empty()) continue;
    for (int k = 0; k < 3; ++k) {
      const char operand[] = {'$', static_cast<char>('0' + k), 0};
      EXPECT_EQ(info.c_spelling.find(operand) != std::string_view::npos, k < info.arity)
          << info.name;
    }
  }
}

TEST(PrimitivesTest, UnaryFloats) {
  EXPECT_EQ(f32(Prim::Sqrt, {2}), 0x1.6a09e6p+0f);
  EXPECT_NEGATIVE_ZERO(f32(Prim::Sqrt, {-0.0f}));
  EXPECT_NAN(f32(Prim::Sqrt, {-kTiny}));
  EXPECT_EQ(f32(Prim::Recip, {-0.0f}), -kInf);
  EXPECT_EQ(f32(Prim::Recip, {kTiny}), kInf);
  EXPECT_NEGATIVE_ZERO(f32(Prim::Recip, {-kInf}));
  EXPECT_EQ(f32(Prim::Recip, {kMax}), 0x1p-128f);
  EXPECT_EQ(f32(Prim::Recip, {3}), 0x1.555556p-2f);
  EXPECT_EQ(f32(Prim::Floor, {-0.5f}), -1);
  EXPECT_NEGATIVE_ZERO(f32(Prim::Floor, {-0.0f}));
  EXPECT_EQ(f32(Prim::Floor, {kInf}), kInf);
  EXPECT_EQ(f32(Prim::Round, {0.5f}), 0);
  EXPECT_EQ(f32(Prim::Round, {1.5f}), 2);
  EXPECT_EQ(f32(Prim::Round, {2.5f}), 2);
  EXPECT_NEGATIVE_ZERO(f32(Prim::Round, {-0.5f}));
  EXPECT_NAN(f32(Prim::Round, {kNan}));
  EXPECT_EQ(f32(Prim::Exp2, {-149}), kTiny);
  EXPECT_EQ(f32(Prim::Log2, {kTiny}), -149);
  EXPECT_NEAR(f32(Prim::Sin, {1}), std::sin(1.0), 1e-7);
  EXPECT_EQ(f64(Prim::Exp2, {0.5}), std::exp2(0.5));
  EXPECT_EQ(f64(Prim::Log2, {3}), std::log2(3.0));
  EXPECT_EQ(f64(Prim::Sin, {1e10}), std::sin(1e10));
}

TEST(PrimitivesTest, AddAndMul) {
  EXPECT_NAN(f32(Prim::Add, {kInf, -kInf}));
  EXPECT_POSITIVE_ZERO(f32(Prim::Add, {0.0f, -0.0f}));
  EXPECT_NEGATIVE_ZERO(f32(Prim::Add, {-0.0f, -0.0f}));
  EXPECT_NAN(f32(Prim::Mul, {0, kInf}));
  EXPECT_NEGATIVE_ZERO(f32(Prim::Mul, {-1, 0}));
  EXPECT_EQ(f32(Prim::Mul, {kTiny, 0.5f}), 0);
  EXPECT_EQ(integer(Prim::Add, DType::I8, {127, 1}), -128);
  EXPECT_EQ(integer(Prim::Add, DType::U8, {255, 1}), 0);
  EXPECT_EQ(integer(Prim::Add, DType::I64, {kHighest, 1}), kLowest);
  EXPECT_EQ(integer(Prim::Mul, DType::I32, {65536, 65536}), 0);
  EXPECT_EQ(integer(Prim::Mul, DType::I64, {kLowest, -1}), kLowest);
  EXPECT_EQ(integer(Prim::Mul, DType::U4, {5, 5}), 9);
}

TEST(PrimitivesTest, ModHasTheSignOfTheDivisor) {
  EXPECT_EQ(f32(Prim::Mod, {5, 3}), 2);
  EXPECT_EQ(f32(Prim::Mod, {-5, 3}), 1);
  EXPECT_EQ(f32(Prim::Mod, {5, -3}), -1);
  EXPECT_EQ(f32(Prim::Mod, {-5, -3}), -2);
  EXPECT_EQ(f32(Prim::Mod, {-1e-20f, 3}), 3);  // the exact result rounds to the divisor
  EXPECT_EQ(f32(Prim::Mod, {1, 0.1f}), static_cast<float>(std::fmod(1.0, 0.1f)));
  EXPECT_NAN(f32(Prim::Mod, {1, 0}));
  EXPECT_NAN(f32(Prim::Mod, {kInf, 1}));
  EXPECT_NAN(f32(Prim::Mod, {1, kInf}));
  EXPECT_NAN(f32(Prim::Mod, {kNan, 1}));
  EXPECT_EQ(f64(Prim::Mod, {-5.5, 2}), 0.5);
  EXPECT_EQ(integer(Prim::Mod, DType::I32, {-7, 3}), 2);
  EXPECT_EQ(integer(Prim::Mod, DType::I32, {7, -3}), -2);
  EXPECT_EQ(integer(Prim::Mod, DType::I32, {7, 0}), 0);
  EXPECT_EQ(integer(Prim::Mod, DType::I64, {kLowest, -1}), 0);
  EXPECT_EQ(integer(Prim::Mod, DType::U64, {-1, 10}), 5);  // 2^64 - 1
}

TEST(PrimitivesTest, ModEqualsFmodWhileTheQuotientIsSmall) {
  std::mt19937 random(3);
  for (int k = 0; k < 1000000; ++k) {
    const float x = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 20) - 40);
    const float y = std::ldexp(static_cast<float>(random() | 1), -30);
    if (x / y >= 0x1p22f) continue;
    ASSERT_EQ(f32(Prim::Mod, {x, y}), std::fmod(x, y)) << x << " mod " << y;
  }
}

TEST(PrimitivesTest, IntDivFloors) {
  EXPECT_EQ(integer(Prim::IntDiv, DType::I32, {7, 2}), 3);
  EXPECT_EQ(integer(Prim::IntDiv, DType::I32, {-7, 2}), -4);
  EXPECT_EQ(integer(Prim::IntDiv, DType::I32, {7, -2}), -4);
  EXPECT_EQ(integer(Prim::IntDiv, DType::I32, {-8, 2}), -4);
  EXPECT_EQ(integer(Prim::IntDiv, DType::I32, {7, 0}), 0);
  EXPECT_EQ(integer(Prim::IntDiv, DType::I8, {-128, -1}), -128);
  EXPECT_EQ(integer(Prim::IntDiv, DType::I64, {kLowest, -1}), kLowest);
  EXPECT_EQ(integer(Prim::IntDiv, DType::U64, {-1, 2}), kHighest);
}

TEST(PrimitivesTest, MaximumAndLessThan) {
  EXPECT_NAN(f32(Prim::Maximum, {kNan, 1}));
  EXPECT_NAN(f32(Prim::Maximum, {1, kNan}));
  EXPECT_POSITIVE_ZERO(f32(Prim::Maximum, {-0.0f, 0.0f}));
  EXPECT_POSITIVE_ZERO(f32(Prim::Maximum, {0.0f, -0.0f}));
  EXPECT_NEGATIVE_ZERO(f32(Prim::Maximum, {-0.0f, -0.0f}));
  EXPECT_EQ(f32(Prim::Maximum, {-kInf, -kMax}), -kMax);
  EXPECT_EQ(integer(Prim::Maximum, DType::I64, {-1, 1}), 1);
  EXPECT_EQ(integer(Prim::Maximum, DType::U64, {-1, 1}), -1);
  EXPECT_EQ(f32(Prim::LessThan, {1, 2}), 1);
  EXPECT_EQ(f32(Prim::LessThan, {-0.0f, 0.0f}), 0);
  EXPECT_EQ(f32(Prim::LessThan, {kNan, 1}), 0);
  EXPECT_EQ(f32(Prim::LessThan, {1, kNan}), 0);
  EXPECT_EQ(integer(Prim::LessThan, DType::I64, {-1, 1}), 1);
  EXPECT_EQ(integer(Prim::LessThan, DType::U64, {-1, 1}), 0);
}

TEST(PrimitivesTest, BitsAndShifts) {
  EXPECT_EQ(integer(Prim::BitAnd, DType::I8, {-1, 0x55}), 0x55);
  EXPECT_EQ(integer(Prim::BitXor, DType::U8, {255, 0x55}), 0xaa);
  EXPECT_EQ(integer(Prim::BitXor, DType::Bool, {1, 1}), 0);
  EXPECT_EQ(integer(Prim::Shift, DType::I8, {1, 7}), -128);
  EXPECT_EQ(integer(Prim::Shift, DType::I8, {1, 8}), 0);
  EXPECT_EQ(integer(Prim::Shift, DType::I8, {-128, -7}), -1);
  EXPECT_EQ(integer(Prim::Shift, DType::I8, {-128, -100}), -1);
  EXPECT_EQ(integer(Prim::Shift, DType::U8, {128, 256 - 7}), 1);  // -7 in 8 bits
  EXPECT_EQ(integer(Prim::Shift, DType::U8, {128, 256 - 8}), 0);
  EXPECT_EQ(integer(Prim::Shift, DType::U32, {0x80000000, 0xffffffff}), 0x40000000);
  EXPECT_EQ(integer(Prim::Shift, DType::I64, {kLowest, -63}), -1);
  EXPECT_EQ(integer(Prim::Shift, DType::I64, {kLowest, kLowest}), -1);
  EXPECT_EQ(integer(Prim::Shift, DType::U64, {-1, -63}), 1);
  EXPECT_EQ(integer(Prim::Shift, DType::U64, {-1, -64}), 0);
  EXPECT_EQ(integer(Prim::Shift, DType::I64, {1, 64}), 0);
}

/// Bounds out of a few typical numbers.
RealRange random_range(std::mt19937& random, bool whole) {
  static const double bounds[] = {-HUGE_VAL, -300, -7, -1.5, -1, 0, 0.25, 1, 3, 60, 1e5, HUGE_VAL};
  double a = bounds[random() % std::size(bounds)], b = bounds[random() % std::size(bounds)];
  if (whole)
    a = std::fabs(a) < 1e3 ? std::floor(a) : 100, b = std::fabs(b) < 1e3 ? std::floor(b) : 9;
  return {std::min(a, b), std::max(a, b), false};
}

double random_inside(std::mt19937& random, const RealRange& range, bool whole) {
  if (random() % 4 == 0 || range.lo == range.hi) return random() % 2 == 0 ? range.lo : range.hi;
  const double lo = std::max(range.lo, -1e6), hi = std::min(range.hi, 1e6);
  const double x = lo + (hi - lo) * (random() % 10001) / 10000;
  return whole ? std::floor(x) : x;
}

TEST(PrimitivesTest, ResultsLieWithinTheirRange) {
  std::mt19937 random(5);
  for (int k = 0; k < 400000; ++k) {
    const PrimInfo& info = kPrimitives[random() % kPrimitives.size()];
    if (info.family != Family::Map || !info.evaluator->range) continue;
    const bool whole = info.evaluator->f64 == nullptr;
    RealRange ranges[3];
    double x[3] = {};
    std::int64_t n[3] = {};
    for (int j = 0; j < info.arity; ++j) {
      ranges[j] = random_range(random, whole);
      x[j] = random_inside(random, ranges[j], whole);
      if (whole) n[j] = static_cast<std::int64_t>(x[j]);
    }
    if (info.prim == Prim::Shift && n[1] > 40) continue;  // a wrapped result
    const RealRange range = info.evaluator->range(ranges);
    const double y =
        whole ? static_cast<double>(info.evaluator->integer(n)) : info.evaluator->f64(x);
    ASSERT_TRUE(std::isnan(y) ? range.nan : range.lo <= y && y <= range.hi)
        << info.name << " of " << x[0] << " in [" << ranges[0].lo << ", " << ranges[0].hi << "], "
        << x[1] << " in [" << ranges[1].lo << ", " << ranges[1].hi << "]: " << y << " not in ["
        << range.lo << ", " << range.hi << "]";
  }
}

TEST(PrimitivesTest, RangesAreTight) {
  const auto range = [](Prim prim, RealRange x, RealRange y = {}) {
    const RealRange operands[] = {x, y};
    return prim_info(prim).evaluator->range(operands);
  };
  const RealRange negative = range(Prim::Exp2, {-HUGE_VAL, 0, false});
  EXPECT_EQ(negative.lo, 0);
  EXPECT_EQ(negative.hi, 1);
  EXPECT_FALSE(negative.nan);
  EXPECT_EQ(range(Prim::LessThan, {0, 1, false}, {2, 3, false}).lo, 1);
  EXPECT_EQ(range(Prim::LessThan, {3, 4, false}, {2, 3, false}).hi, 0);
  EXPECT_EQ(range(Prim::BitAnd, {-8, 8, false}, {0, 15, false}).hi, 15);
  EXPECT_EQ(range(Prim::BitXor, {0, 8, false}, {0, 15, false}).hi, 15);
  EXPECT_EQ(range(Prim::Shift, {0, 255, false}, {-4, -4, false}).hi, 15);
  EXPECT_EQ(range(Prim::Mul, {-2, 3, false}, {5, 7, false}).lo, -14);
  EXPECT_TRUE(range(Prim::Mul, {0, 1, false}, {0, HUGE_VAL, false}).nan);
  EXPECT_TRUE(range(Prim::Add, {0, HUGE_VAL, false}, {-HUGE_VAL, 0, false}).nan);
  EXPECT_FALSE(range(Prim::Add, {0, HUGE_VAL, false}, {0, HUGE_VAL, false}).nan);
}

}  // namespace
}  // namespace luminal::ir
