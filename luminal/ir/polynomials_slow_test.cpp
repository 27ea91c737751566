// SPDX-License-Identifier: MIT OR Apache-2.0
// Every one of the 2^32 arguments against the C library in double.
#include <gtest/gtest.h>

#include "luminal/ir/polynomials_accuracy_test.h"

namespace luminal::ir {
namespace {

constexpr std::uint32_t kStep = 1;

TEST(PolynomialsSlowTest, Exp2) { check_exp2(kStep); }
TEST(PolynomialsSlowTest, Log2) { check_log2(kStep); }
TEST(PolynomialsSlowTest, Sin) { check_sin(kStep); }

}  // namespace
}  // namespace luminal::ir
