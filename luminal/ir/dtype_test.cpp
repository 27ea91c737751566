// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace luminal::ir {
namespace {

constexpr char kGoldens[] = "luminal/ir/testdata/dtype_goldens.txt";
constexpr double kInfinity = HUGE_VAL;

float float_of(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

/// FNV-1a over the bytes of words, as the golden script does it.
struct Fnv {
  std::uint64_t state = 0xcbf29ce484222325;
  void add(std::uint64_t word, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      state = (state ^ ((word >> (8 * i)) & 0xff)) * 0x100000001b3;
    }
  }
};

/// The numbers that the golden script encodes, see numbers_to_encode there.
template <class Neighbour>
std::vector<double> numbers_to_encode(DType dtype) {
  std::vector<double> values;
  for (std::uint64_t code = 0; code < 0x8000; ++code) {
    if (std::isfinite(decode(dtype, code))) values.push_back(decode(dtype, code));
  }
  std::vector<double> points = values;
  for (std::size_t i = 1; i < values.size(); ++i) {
    points.push_back((values[i - 1] + values[i]) / 2);
  }
  const double top = values.back();
  const double step = top - values[values.size() - 2];
  for (double past : {0.5, 1.0, 1.5, 4.0}) points.push_back(top + step * past);
  std::vector<double> all;
  for (double point : points) {
    const auto x = static_cast<Neighbour>(point);
    all.push_back(x);
    all.push_back(std::nextafter(x, std::numeric_limits<Neighbour>::infinity()));
    all.push_back(std::nextafter(x, Neighbour{0}));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  all.push_back(kInfinity);
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i) all.push_back(-all[i]);
  return all;
}

std::uint64_t encode_hash(DType dtype) {
  Fnv fnv;
  const std::vector<double> numbers =
      dtype == DType::F16 ? numbers_to_encode<double>(dtype) : numbers_to_encode<float>(dtype);
  for (double number : numbers) fnv.add(encode(dtype, number), 2);
  return fnv.state;
}

std::uint64_t decode_hash(DType dtype) {
  Fnv fnv;
  for (std::uint64_t code = 0; code < 0x10000; ++code) {
    const double value = decode(dtype, code);
    fnv.add(std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value), 8);
  }
  return fnv.state;
}

void check_decode(DType dtype, std::uint64_t code, float expected) {
  const double value = decode(dtype, code);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(value)) << dtype_name(dtype) << " " << code;
    return;
  }
  EXPECT_EQ(value, expected) << dtype_name(dtype) << " " << code;
  if (dtype == DType::F8E8M0) return;
  const std::uint64_t sign = std::uint64_t{1} << (dtype_bits(dtype) - 1);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(decode(dtype, code | sign)),
            std::bit_cast<std::uint64_t>(-value));
}

void check_encode(DType dtype, float number, std::uint64_t expected) {
  EXPECT_EQ(encode(dtype, number), expected) << dtype_name(dtype) << " " << number;
  const std::uint64_t sign = std::uint64_t{1} << (dtype_bits(dtype) - 1);
  EXPECT_EQ(encode(dtype, -number), dtype == DType::F8E8M0 ? 0xff : (expected | sign));
}

TEST(DTypeTest, AgreesWithMlDtypesOnEveryCodeAndHalfwayPoint) {
  std::ifstream file(kGoldens);
  ASSERT_TRUE(file) << kGoldens;
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string what, name;
    in >> what >> name >> std::hex;
    if (what == "#") continue;
    const std::optional<DType> dtype = dtype_of_name(name);
    ASSERT_TRUE(dtype) << line;
    std::uint64_t a = 0, b = 0;
    in >> a;
    if (what == "decode" && in >> b) check_decode(*dtype, a, float_of(b));
    if (what == "encode" && in >> b) check_encode(*dtype, float_of(a), b);
    if (what == "hash_decode") {
      EXPECT_EQ(decode_hash(*dtype), a) << name;
    }
    if (what == "hash_encode") {
      EXPECT_EQ(encode_hash(*dtype), a) << name;
    }
    ++checked;
  }
  EXPECT_GT(checked, 3000);
}

TEST(DTypeTest, EncodeOfDecodeIsTheCode) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.bits > 16) continue;
    const std::uint64_t codes = info.kind == NumberKind::Bool ? 2 : std::uint64_t{1} << info.bits;
    for (std::uint64_t code = 0; code < codes; ++code) {
      const double value = decode(info.dtype, code);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode(info.dtype, encode(info.dtype, value))));
      } else {
        EXPECT_EQ(encode(info.dtype, value), code) << info.name;
      }
    }
  }
}

TEST(DTypeTest, HalfAgreesWithTheCompilerOnRandomFloats) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(x)) continue;
    const auto half = static_cast<_Float16>(x);
    ASSERT_EQ(encode(DType::F16, x), std::bit_cast<std::uint16_t>(half)) << x;
    ASSERT_EQ(decode(DType::F16, std::bit_cast<std::uint16_t>(half)), static_cast<double>(half));
    // bfloat16 is the upper half of a float, rounded to nearest even.
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    ASSERT_EQ(encode(DType::BF16, x), (bits + 0x7fff + ((bits >> 16) & 1)) >> 16) << x;
  }
}

TEST(DTypeTest, RoundsOnceFromDouble) {
  const double just_above_half = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(encode(DType::F16, just_above_half), 0x3c01u);
  EXPECT_EQ(encode(DType::BF16, 1 + std::ldexp(1, -8) + std::ldexp(1, -50)), 0x3f81u);
  EXPECT_EQ(encode(DType::BF16, std::ldexp(1, -133)), 1u);
  EXPECT_EQ(encode(DType::BF16, std::ldexp(1, -134)), 0u);
  EXPECT_EQ(encode(DType::BF16, std::nextafter(std::ldexp(1, -134), 1)), 1u);
  EXPECT_EQ(encode(DType::F16, std::numeric_limits<double>::denorm_min()), 0u);
  EXPECT_EQ(encode(DType::F8E8M0, std::numeric_limits<double>::denorm_min()), 0u);
}

TEST(DTypeTest, NanAndInfinity) {
  const double nan = std::nan("");
  EXPECT_EQ(encode(DType::F16, nan), 0x7e00u);
  EXPECT_EQ(encode(DType::F16, -nan), 0xfe00u);
  EXPECT_EQ(encode(DType::F8E4M3FN, nan), 0x7fu);
  EXPECT_EQ(encode(DType::F8E4M3FN, kInfinity), 0x7fu);
  EXPECT_EQ(encode(DType::F8E5M2, -kInfinity), 0xfcu);
  EXPECT_EQ(encode(DType::F6E2M3, nan), 0u);
  EXPECT_EQ(encode(DType::F4E2M1, -kInfinity), 0xfu);
  EXPECT_EQ(encode(DType::I32, nan), 0u);
  EXPECT_EQ(encode(DType::I32, kInfinity), 0u);
  EXPECT_EQ(encode(DType::Bool, nan), 1u);
}

TEST(DTypeTest, IntegersTruncateAndWrap) {
  EXPECT_EQ(encode(DType::I8, -1.9), 0xffu);
  EXPECT_EQ(encode(DType::U8, 257.5), 1u);
  EXPECT_EQ(encode(DType::I4, -9.0), 7u);
  EXPECT_EQ(encode(DType::U64, -1.0), ~std::uint64_t{0});
  EXPECT_EQ(encode(DType::U64, 18446744073709551616.0 * 5), 0u);
  EXPECT_EQ(encode(DType::U32, 18446744073709555712.0), 4096u);
  EXPECT_EQ(decode(DType::U64, ~std::uint64_t{0}), 18446744073709551616.0);
  EXPECT_EQ(decode(DType::I4, 0xf8), -8.0);
  EXPECT_EQ(decode_integer(DType::I4, 0xf), -1);
  EXPECT_EQ(decode_integer(DType::U7, 0xff), 127);
  EXPECT_EQ(decode_integer(DType::I64, ~std::uint64_t{0}), -1);
  EXPECT_EQ(decode_integer(DType::Bool, 0x40), 1);
  EXPECT_EQ(encode_integer(DType::I4, -1), 0xfu);
  EXPECT_EQ(encode_integer(DType::Bool, 256), 1u);
  EXPECT_EQ(encode_integer(DType::I64, std::numeric_limits<std::int64_t>::min()),
            std::uint64_t{1} << 63);
}

TEST(DTypeTest, NamesReadBack) {
  for (const DTypeInfo& info : kDTypes) {
    EXPECT_EQ(dtype_of_name(info.name), info.dtype);
    EXPECT_EQ(dtype_info(info.dtype).dtype, info.dtype);
  }
  EXPECT_EQ(dtype_of_name("f12"), std::nullopt);
  EXPECT_EQ(dtype_of_name(""), std::nullopt);
}

}  // namespace
}  // namespace luminal::ir
