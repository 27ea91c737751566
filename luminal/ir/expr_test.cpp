// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/expr.h"

#include <gtest/gtest.h>

#include <random>

namespace luminal::ir {
namespace {

ExprId parsed(Exprs& exprs, std::string_view text) {
  const Result<ExprId> id = exprs.parse(text);
  EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
  return id.ok() ? *id : exprs.constant(0);
}

class ExprTest : public testing::Test {
 protected:
  ExprTest() {
    exprs.symbol("T", 1, 512);
    exprs.symbol("n", 0, 4095);
  }
  std::string normal(std::string_view text) { return exprs.print(parsed(exprs, text)); }
  std::string simple(std::string_view text, const std::vector<Interval>& ranges) {
    return exprs.print(exprs.simplify(parsed(exprs, text), ranges));
  }
  Exprs exprs;
};

TEST_F(ExprTest, EqualSumsAreOneExpression) {
  EXPECT_EQ(parsed(exprs, "c1 + n*2 + c0*3 + 4"), parsed(exprs, "2 + n + c0 + c1 + c0*2 + n + 2"));
  EXPECT_EQ(parsed(exprs, "(c0 + n)*(c1 + T)"), parsed(exprs, "c0*c1 + T*c0 + c1*n + n*T"));
  EXPECT_EQ(normal("c0 - c0"), "0");
  EXPECT_EQ(normal("n - T*2 + c1"), "c1 - T*2 + n");
  EXPECT_EQ(normal("0 - (c0 % 4)*3"), "-(c0%4)*3");
  EXPECT_EQ(parsed(exprs, "-(c0%4)*3"), parsed(exprs, "c0%4*-3"));
}

TEST_F(ExprTest, DivisionLosesCommonFactors) {
  EXPECT_EQ(normal("(c0*256 + c1) // 256"), "c0 + c1//256");
  EXPECT_EQ(normal("(c0*6 + 9) // 4"), "c0*3//2 + 2");
  EXPECT_EQ(normal("(c0*4 + 7) % 8"), "(c0 + 1)%2*4 + 3");
  EXPECT_EQ(normal("(c0 // 4) // 8"), "c0//32");
  EXPECT_EQ(normal("(c0 % 12) % 4"), "c0%4");
  EXPECT_EQ(normal("(c0*T + c1) // T"), "c0 + c1//T");
  EXPECT_EQ(normal("-7 // 2"), "-4");
  EXPECT_EQ(normal("-7 % 2"), "1");
}

TEST_F(ExprTest, RangesRemoveDivisions) {
  EXPECT_EQ(simple("(c0*256 + c1) // 256", {{0, 9}, {0, 255}}), "c0");
  EXPECT_EQ(simple("(c0*32 + c1) // 128", {{0, 99}, {0, 31}}), "c0//4");
  EXPECT_EQ(simple("(c0*32 + c1) % 128", {{0, 99}, {0, 31}}), "c1 + c0%4*32");
  EXPECT_EQ(simple("((c0*32 + c1) % 128) // 32", {{0, 3}, {0, 31}}), "c0");
  EXPECT_EQ(simple("min(c0, 100)", {{0, 100}}), "c0");
  EXPECT_EQ(simple("max(c0 + n, c0)", {{0, 100}}), "c0 + n");
  EXPECT_EQ(simple("c0*5", {{0, 0}}), "0");
}

TEST_F(ExprTest, BoundsHoldForSymbolicExtents) {
  const std::vector<ExprId> shape = {parsed(exprs, "T"), parsed(exprs, "min(n + T, 4096)")};
  const auto inside = [&](std::string_view index, std::string_view extent) {
    return exprs.provably_in_bounds(parsed(exprs, index), parsed(exprs, extent), shape);
  };
  EXPECT_TRUE(inside("c0", "T"));
  EXPECT_TRUE(inside("T - 1 - c0", "T"));
  EXPECT_TRUE(inside("c0*3 + 2", "T*3"));
  EXPECT_TRUE(inside("c1", "4096"));
  EXPECT_FALSE(inside("c0 + 1", "T"));
  EXPECT_FALSE(inside("c0 - 1", "T"));
  EXPECT_FALSE(inside("c0 + n", "4096"));
  EXPECT_TRUE(inside("min(c0 + n, 4095)", "4096"));
}

TEST_F(ExprTest, ChoicesCancel) {
  // How many positions a window of 512 reads out of a cache of 4096.
  const ExprId count = parsed(exprs, "min(4096, T + n) - max(0, n - 511)");
  EXPECT_EQ(exprs.tight_interval(count), (Interval{1, 4096}));
  EXPECT_LT(exprs.interval(count).lo, 0);
  const std::vector<ExprId> shape = {count};
  EXPECT_TRUE(exprs.provably_in_bounds(parsed(exprs, "c0 + max(0, n - 511)"), exprs.constant(4096), shape));
  EXPECT_FALSE(exprs.provably_in_bounds(parsed(exprs, "c0 + max(0, n - 510)"), exprs.constant(4096), shape));
}

TEST_F(ExprTest, LastRowsThatMayBeNone) {
  exprs.symbol("some", 0, 1);
  const std::vector<ExprId> shape = {parsed(exprs, "some")};
  EXPECT_TRUE(exprs.provably_in_bounds(parsed(exprs, "T - some + c0"), parsed(exprs, "T"), shape));
}

TEST_F(ExprTest, ErrorsNameThePlace) {
  for (const char* text : {"", "c0 +", "min(c0)", "c0 // 0", "c0 % n", "x", "1 2", "99999999999999999999"})
    EXPECT_FALSE(exprs.parse(text).ok()) << text;
  EXPECT_FALSE(exprs.parse(std::string(5000, '(')).ok());
  EXPECT_FALSE(exprs.parse(std::string(5000, '-') + "1").ok());
  EXPECT_NE(exprs.parse("c0 + frog").error().message.find("'frog'"), std::string::npos);
}

// Random expressions over three coordinates and a symbol, evaluated beside the tree they were made from.
class RandomExpr {
 public:
  RandomExpr(Exprs& exprs, std::mt19937& random) : exprs_(exprs), random_(random) {}

  struct Made {
    ExprId id;
    std::function<std::int64_t(const std::vector<std::int64_t>&, std::int64_t)> value;
  };

  Made make(int depth) {
    const auto pick = [&](int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); };
    if (depth == 0 || pick(6) == 0) {
      const int leaf = pick(5);
      if (leaf < 3)
        return {exprs_.coord(leaf), [leaf](const auto& c, auto) { return c[static_cast<std::size_t>(leaf)]; }};
      if (leaf == 3) return {exprs_.symbol("n", 0, 4095), [](const auto&, auto n) { return n; }};
      const std::int64_t number = pick(41) - 20;
      return {exprs_.constant(number), [number](const auto&, auto) { return number; }};
    }
    Made a = make(depth - 1);
    const int kind = pick(7);
    if (kind == 3 || kind == 4) {
      static constexpr std::int64_t kDivisors[] = {1, 2, 3, 4, 6, 8, 32, 128};
      const std::int64_t d = kDivisors[pick(8)];
      if (kind == 3)
        return {exprs_.floor_div(a.id, exprs_.constant(d)), [a, d](const auto& c, auto n) {
                  const std::int64_t x = a.value(c, n);
                  return (x - ((x % d) + d) % d) / d;
                }};
      return {exprs_.mod(a.id, exprs_.constant(d)),
              [a, d](const auto& c, auto n) { return ((a.value(c, n) % d) + d) % d; }};
    }
    Made b = make(depth - 1);
    switch (kind) {
      case 0: return {exprs_.add(a.id, b.id), [a, b](const auto& c, auto n) { return a.value(c, n) + b.value(c, n); }};
      case 1: return {exprs_.sub(a.id, b.id), [a, b](const auto& c, auto n) { return a.value(c, n) - b.value(c, n); }};
      case 2: {
        const std::int64_t k = pick(9) - 4;
        return {exprs_.mul(a.id, exprs_.constant(k)), [a, k](const auto& c, auto n) { return a.value(c, n) * k; }};
      }
      case 5:
        return {exprs_.min(a.id, b.id), [a, b](const auto& c, auto n) { return std::min(a.value(c, n), b.value(c, n)); }};
      default:
        return {exprs_.max(a.id, b.id), [a, b](const auto& c, auto n) { return std::max(a.value(c, n), b.value(c, n)); }};
    }
  }

 private:
  Exprs& exprs_;
  std::mt19937& random_;
};

TEST(ExprProperty, EveryFormHasTheValueOfItsTree) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    Exprs exprs;
    exprs.symbol("n", 0, 4095);
    RandomExpr maker(exprs, random);
    const auto made = maker.make(5);
    const std::vector<Interval> ranges = {{0, 31}, {0, 3}, {0, static_cast<std::int64_t>(random() % 200)}};
    const ExprId simple = exprs.simplify(made.id, ranges);
    const Interval bounds = exprs.interval(made.id, ranges);
    const std::string text = exprs.print(made.id);
    ASSERT_EQ(parsed(exprs, text), made.id) << text;
    for (int sample = 0; sample < 12; ++sample) {
      std::vector<std::int64_t> c;
      for (const Interval& range : ranges)
        c.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(range.hi + 1)));
      const std::int64_t n[] = {static_cast<std::int64_t>(random() % 4096)};
      const std::int64_t wanted = made.value(c, n[0]);
      ASSERT_EQ(exprs.evaluate(made.id, c, n), wanted) << text;
      ASSERT_EQ(exprs.evaluate(simple, c, n), wanted) << text << " simplified to " << exprs.print(simple);
      ASSERT_TRUE(bounds.contains(wanted)) << text;
    }
  }
}

TEST(ExprProperty, TextDoesNotDependOnTheOrderOfMaking) {
  Exprs first, second;
  first.symbol("a", 0, 9);
  first.symbol("b", 0, 9);
  second.symbol("b", 0, 9);
  second.symbol("a", 0, 9);
  second.coord(1);
  EXPECT_EQ(first.print(parsed(first, "b*c1 + a + c0//4 + max(b, a)")),
            second.print(parsed(second, "max(a, b) + c0//4 + a + c1*b")));
}

TEST(ExprProperty, SubstitutionComposes) {
  Exprs exprs;
  exprs.symbol("n", 0, 99);
  const ExprId outer = parsed(exprs, "c0//4 + c1%4*n");
  const std::vector<ExprId> inner = {parsed(exprs, "c0*4 + c1"), parsed(exprs, "c0*4 + 1")};
  EXPECT_EQ(exprs.print(exprs.substitute(outer, inner)), "c0 + n + c1//4");
}

}  // namespace
}  // namespace luminal::ir
