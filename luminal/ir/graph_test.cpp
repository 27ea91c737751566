// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/graph.h"

#include "luminal/ir/verify.h"

#include <gtest/gtest.h>

namespace luminal::ir {
namespace {

class GraphTest : public testing::Test {
 protected:
  ExprId number(std::int64_t value) { return graph.exprs.constant(value); }
  Shape shape(std::initializer_list<std::int64_t> extents) {
    Shape result;
    for (std::int64_t extent : extents) result.push_back(number(extent));
    return result;
  }
  std::string defect() {
    const Status status = verify(graph);
    return status.ok() ? "" : status.error().message;
  }
  std::string refusal(Value value) {
    const Result<ValueId> added = graph.add(std::move(value));
    return added.ok() ? "" : added.error().message;
  }
  Graph graph;
};

TEST_F(GraphTest, TypesFollowFromOperands) {
  const ValueId x = graph.input("x", DType::F32, shape({2, 3}));
  const ValueId less = graph.map(Prim::LessThan, {x, x});
  EXPECT_EQ(graph[less].dtype, DType::Bool);
  EXPECT_EQ(graph[graph.reduce(Prim::SumReduce, x, {0})].shape, shape({3}));
  EXPECT_EQ(graph[graph.sort(x, 1)].dtype, DType::I32);
  const ValueId index = graph.iota(DType::I32, shape({4, 5}), graph.exprs.coord(0));
  EXPECT_EQ(graph[graph.gather(x, 1, index)].shape, shape({2, 4, 5}));
  const ValueId update = graph.view(x, shape({2, 4, 5}), {graph.exprs.coord(0), number(0)});
  EXPECT_EQ(graph[graph.scatter(x, 1, index, update, ScatterMode::Add)].shape, shape({2, 3}));
  EXPECT_EQ(graph[graph.permute(x, {1, 0})].shape, shape({3, 2}));
  EXPECT_EQ(defect(), "");
}

TEST_F(GraphTest, RefusalsNameTheReason) {
  const ValueId x = graph.input("x", DType::F32, shape({2, 3}));
  const ValueId y = graph.input("y", DType::F16, shape({2, 3}));
  const ValueId z = graph.input("z", DType::F32, shape({3, 2}));
  EXPECT_NE(refusal({.prim = Prim::Add, .operands = {x, y}}).find("f32 and f16"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::Add, .operands = {x, z}}).find("[2, 3] and [3, 2]"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::Add, .operands = {x}}).find("1 operands"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::SumReduce, .operands = {x}, .axes = {2}}).find("axis 2"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::SumReduce, .operands = {x}, .axes = {1, 0}}).find("rise"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::BitAnd, .operands = {x, x}}).find("integer"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::Bitcast, .dtype = DType::F16, .operands = {x}}).find("width"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::Select, .operands = {x, x, x}}).find("bool"), std::string::npos);
  EXPECT_NE(refusal({.prim = Prim::Add, .operands = {x, ValueId(999)}}).find("after"), std::string::npos);
  Value again{.prim = Prim::Input, .dtype = DType::F32, .shape = shape({1})};
  again.input = InputInfo{.name = "x"};
  EXPECT_NE(refusal(again).find("'x' exists"), std::string::npos);
  Value far{.prim = Prim::View, .dtype = DType::F32, .shape = shape({2}), .operands = {x}};
  far.map = {number(0), graph.exprs.coord(1)};
  EXPECT_NE(refusal(far).find("c1"), std::string::npos);
}

TEST_F(GraphTest, VerifyProvesBoundsAndNamesTheLine) {
  const ExprId n = graph.exprs.symbol("n", 1, 64);
  const ValueId x = graph.input("x", DType::F32, {n});
  const ExprId c0 = graph.exprs.coord(0);
  graph.view(x, {n}, {graph.exprs.sub(graph.exprs.sub(n, number(1)), c0)});
  EXPECT_EQ(defect(), "");
  graph.set_source("net.py:12");
  graph.view(x, {n}, {graph.exprs.add(c0, number(1))});
  EXPECT_EQ(defect(),
            "%2 = view (net.py:12): index c0 + 1 of axis 0 is not known to lie in [0, n); clamp it with min and max");
}

TEST_F(GraphTest, VerifyChecksOutputsAndStates) {
  const ValueId state = graph.state("cache", DType::F32, shape({4}));
  const ValueId x = graph.input("x", DType::F32, shape({5}));
  graph.output("next", x, state);
  EXPECT_NE(defect().find("state 'cache'"), std::string::npos);
}

TEST_F(GraphTest, VerifyRefusesGathersFromNothing) {
  const ExprId n = graph.exprs.symbol("n", 0, 64);
  const ValueId x = graph.input("x", DType::F32, {n});
  graph.gather(x, 0, graph.input("i", DType::I32, shape({3})));
  EXPECT_NE(defect().find("may be empty"), std::string::npos);
}

}  // namespace
}  // namespace luminal::ir
