// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/polynomials.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "luminal/base/cat.h"
#include "luminal/ir/polynomials_accuracy_test.h"

namespace luminal::ir {
namespace {

constexpr float kInfinity = HUGE_VALF;
constexpr std::uint32_t kSample = 4099;  // a prime: all exponents, changing low bits

TEST(PolynomialsTest, Exp2IsAccurateOnASample) { check_exp2(kSample); }
TEST(PolynomialsTest, Log2IsAccurateOnASample) { check_log2(kSample); }
TEST(PolynomialsTest, SinIsAccurateOnASample) { check_sin(kSample); }

TEST(PolynomialsTest, Exp2OfIntegersAndSpecialValues) {
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(evaluate(exp2_polynomial(), static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
  }
  EXPECT_EQ(evaluate(exp2_polynomial(), 128.0f), kInfinity);
  EXPECT_TRUE(std::isfinite(evaluate(exp2_polynomial(), std::nextafter(128.0f, 0.0f))));
  EXPECT_EQ(evaluate(exp2_polynomial(), -150.0f), 0.0f);
  EXPECT_EQ(evaluate(exp2_polynomial(), std::nextafter(-150.0f, 0.0f)), 0x1p-149f);
  EXPECT_EQ(evaluate(exp2_polynomial(), -kInfinity), 0.0f);
  EXPECT_EQ(evaluate(exp2_polynomial(), kInfinity), kInfinity);
  EXPECT_EQ(evaluate(exp2_polynomial(), -0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(evaluate(exp2_polynomial(), std::nanf(""))));
}

TEST(PolynomialsTest, Log2OfPowersAndSpecialValues) {
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(evaluate(log2_polynomial(), std::ldexp(1.0f, n)), static_cast<float>(n));
  }
  EXPECT_EQ(evaluate(log2_polynomial(), 0.0f), -kInfinity);
  EXPECT_EQ(evaluate(log2_polynomial(), -0.0f), -kInfinity);
  EXPECT_EQ(evaluate(log2_polynomial(), kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(evaluate(log2_polynomial(), -0x1p-149f)));
  EXPECT_TRUE(std::isnan(evaluate(log2_polynomial(), -kInfinity)));
  EXPECT_TRUE(std::isnan(evaluate(log2_polynomial(), std::nanf(""))));
}

TEST(PolynomialsTest, SinOfSpecialValues) {
  EXPECT_TRUE(std::signbit(evaluate(sin_polynomial(), -0.0f)));
  EXPECT_FALSE(std::signbit(evaluate(sin_polynomial(), 0.0f)));
  EXPECT_EQ(evaluate(sin_polynomial(), 0x1p-149f), 0x1p-149f);
  EXPECT_TRUE(std::isnan(evaluate(sin_polynomial(), kInfinity)));
  EXPECT_TRUE(std::isnan(evaluate(sin_polynomial(), -kInfinity)));
  EXPECT_TRUE(std::isnan(evaluate(sin_polynomial(), std::nanf(""))));
  EXPECT_EQ(evaluate(sin_polynomial(), std::numeric_limits<float>::max()), 0.0f);
}

/// Random bits, integers, halves and the borders of ranges.
std::vector<float> arguments() {
  std::vector<float> x = {0.0f, -0.0f, kInfinity, -kInfinity, std::nanf(""), 0x1p-126f, 0x1p-149f};
  for (int k = -300; k < 300; ++k) {
    const float value = static_cast<float>(k) / 2;
    for (float near : {value, std::nextafter(value, 1e9f), std::nextafter(value, -1e9f)}) {
      x.push_back(near);
    }
  }
  std::mt19937 random(7);
  for (int k = 0; k < 200000; ++k) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    x.push_back((static_cast<float>(random() % 2000001) - 1e6f) * 1e-4f);
  }
  return x;
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

TEST(PolynomialsTest, OneByOneEqualsManyAtOnce) {
  const std::vector<float> x = arguments();
  std::vector<float> y(x.size());
  for (std::string_view name : {"exp2", "log2", "sin"}) {
    const Polynomial* polynomial = polynomial_of_name(name);
    ASSERT_NE(polynomial, nullptr);
    evaluate(*polynomial, x, y);
    for (std::size_t k = 0; k < x.size(); ++k) {
      ASSERT_TRUE(same(y[k], evaluate(*polynomial, x[k]))) << name << " of " << x[k];
    }
  }
  EXPECT_EQ(polynomial_of_name("cos"), nullptr);
}

// The names that polynomial_c uses, for scalars in C++.
constexpr char kScalarNames[] = R"(
#include <cmath>
#include <cstring>
static inline float lum_fma(float a, float b, float c) { return std::fma(a, b, c); }
static inline float lum_round(float a) { return std::nearbyint(a); }
static inline int lum_f2i(float a) { return (int)a; }
static inline float lum_i2f(int a) { return (float)a; }
static inline int lum_bits(float a) { int b; std::memcpy(&b, &a, 4); return b; }
static inline float lum_float(int a) { float b; std::memcpy(&b, &a, 4); return b; }
static inline bool lum_less(float a, float b) { return a < b; }
static inline float lum_select(bool m, float a, float b) { return m ? a : b; }
)";

/// A folder of its own that is removed with everything in it.
struct ScratchFolder {
  std::filesystem::path path;
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "polynomial-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
};

TEST(PolynomialsTest, PrintedCComputesTheSameBits) {
  const ScratchFolder folder;
  ASSERT_FALSE(folder.path.empty());
  const std::string source = folder.path / "printed.cpp";
  const std::string library = folder.path / "printed.so";
  std::ofstream out(source);
  out << kScalarNames;
  for (std::string_view name : {"exp2", "log2", "sin"}) {
    out << polynomial_c(*polynomial_of_name(name))
        << cat("extern \"C\" void run_", name, "(const float* x, float* y, long n) {\n",
               "  for (long k = 0; k < n; ++k) y[k] = lum_", name, "(x[k]);\n}\n");
  }
  out.close();
  const std::string command =
      cat(LUM_TEST_CXX, " -O2 -ffp-contract=off -shared -fPIC -o '", library, "' '", source, "'");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  const std::vector<float> x = arguments();
  std::vector<float> printed(x.size()), table(x.size());
  for (std::string_view name : {"exp2", "log2", "sin"}) {
    using Run = void (*)(const float*, float*, long);
    const auto run = reinterpret_cast<Run>(dlsym(handle, cat("run_", name).c_str()));
    ASSERT_NE(run, nullptr);
    run(x.data(), printed.data(), static_cast<long>(x.size()));
    evaluate(*polynomial_of_name(name), x, table);
    for (std::size_t k = 0; k < x.size(); ++k) {
      ASSERT_TRUE(same(printed[k], table[k]))
          << name << " of " << x[k] << ": " << printed[k] << " and " << table[k];
    }
  }
  dlclose(handle);
}

TEST(PolynomialsTest, PrintsOneLineAStep) {
  const Polynomial polynomial{"shift",
                              {{StepOp::Argument, {}, 0},
                               {StepOp::Float, {}, 0x3fc00000},
                               {StepOp::Float, {}, 0x7f800000},
                               {StepOp::Int, {}, 0xffffffff},
                               {StepOp::Fma, {0, 1, 2}, 0},
                               {StepOp::Bits, {4}, 0},
                               {StepOp::IntAnd, {5, 3}, 0},
                               {StepOp::OfBits, {6}, 0},
                               {StepOp::SelectLess, {0, 1, 7, 0}, 0}}};
  EXPECT_EQ(polynomial_c(polynomial, {"f32x8", "i32x8", "static"}),
            "static f32x8 lum_shift(f32x8 x) {\n"
            "  const f32x8 v0 = x;\n"
            "  const f32x8 v1 = (f32x8)(0x1.8p+0f);\n"
            "  const f32x8 v2 = lum_float((i32x8)(2139095040));\n"
            "  const i32x8 v3 = (i32x8)(-1);\n"
            "  const f32x8 v4 = lum_fma(v0, v1, v2);\n"
            "  const i32x8 v5 = lum_bits(v4);\n"
            "  const i32x8 v6 = v5 & v3;\n"
            "  const f32x8 v7 = lum_float(v6);\n"
            "  const f32x8 v8 = lum_select(lum_less(v0, v1), v7, v0);\n"
            "  return v8;\n"
            "}\n");
}

}  // namespace
}  // namespace luminal::ir
