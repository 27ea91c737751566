// SPDX-License-Identifier: MIT OR Apache-2.0
// From a graph to a session on the CPU back end: small programs against plain loops.
#include "luminal/runtime/session.h"

#include "luminal/backends/cpu/cpu_backend.h"
#include "luminal/base/team.h"
#include "luminal/compiler/compile.h"
#include "luminal/ir/specialize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>

namespace luminal::runtime {
namespace {

using ir::DType;
using ir::ExprId;
using ir::Graph;
using ir::Prim;
using ir::Shape;
using ir::ValueId;

using Buffers = std::map<std::string, std::vector<std::byte>>;

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(random);
  return numbers;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& numbers) {
  const auto view = std::as_bytes(std::span<const T>(numbers));
  return {view.begin(), view.end()};
}

class SessionTest : public testing::Test {
 protected:
  void load(std::initializer_list<const Graph*> graphs, int threads = 2) {
    team = std::make_unique<Team>(threads);
    auto made = cpu::make_cpu_backend("", 2);
    ASSERT_TRUE(made.ok()) << made.error().message;
    backend = std::move(*made);
    const std::vector<const Graph*> list(graphs);
    auto compiled = compiler::compile(list, *backend, {});
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    LoadOptions options;
    options.source = [this](const std::string& name) -> Result<std::span<const std::byte>> {
      const auto found = buffers.find(name);
      if (found == buffers.end()) return error("no buffer ", name);
      return std::span<const std::byte>(found->second);
    };
    auto loaded = Session::create(std::move(compiled->executables), *team, options);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    session = std::move(*loaded);
  }
  void give(int program, const char* name, const std::vector<float>& numbers) {
    const Status status = session->set_input(program, name, std::as_bytes(std::span(numbers)));
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  std::vector<float> take(int program, const char* name) {
    const auto bytes = session->output(program, name);
    std::vector<float> numbers(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  Buffers buffers;
  std::unique_ptr<Team> team;
  std::unique_ptr<target::Backend> backend;
  std::unique_ptr<Session> session;
};

// y[m, n] = sum_k x[m, k] * w[n, k]
ValueId linear(Graph& graph, ValueId x, ValueId w, ExprId m, ExprId n, ExprId k) {
  const Shape space = {m, n, k};
  return graph.reduce(Prim::SumReduce,
                      graph.map(Prim::Mul, {graph.expand(x, space, {0, 2}), graph.expand(w, space, {1, 2})}), {2});
}

TEST_F(SessionTest, MatmulOfAnyHeight) {
  constexpr int kN = 50, kK = 70;
  Graph graph;
  const ExprId m = graph.exprs.symbol("m", 0, 80);
  const ExprId n = graph.exprs.constant(kN), k = graph.exprs.constant(kK);
  const ValueId x = graph.input("x", DType::F32, {m, k});
  const ValueId w = graph.weight("w", DType::F32, {n, k});
  graph.output("y", linear(graph, x, w, m, n, k));
  const auto one = ir::specialize(graph, {{"m", 1}});
  ASSERT_TRUE(one.ok());
  const std::vector<float> weight = random_floats(kN * kK, 1);
  buffers["w"] = bytes_of(weight);
  load({&graph, &*one});
  for (int rows : {0, 1, 5, 33, 80}) {
    const int program = rows == 1 ? 1 : 0;
    const std::vector<float> input = random_floats(static_cast<std::size_t>(rows) * kK, 2);
    ASSERT_TRUE(session->set_symbol(program, "m", rows).ok());
    give(program, "x", input);
    ASSERT_TRUE(session->run(program).ok());
    const std::vector<float> y = take(program, "y");
    ASSERT_EQ(y.size(), static_cast<std::size_t>(rows) * kN);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < kN; ++j) {
        double sum = 0;
        for (int c = 0; c < kK; ++c) sum += static_cast<double>(input[i * kK + c]) * weight[j * kK + c];
        ASSERT_NEAR(y[i * kN + j], sum, 1e-5) << rows << " rows, at " << i << ", " << j;
      }
  }
  EXPECT_NE(session->set_symbol(0, "m", 81).error().message.find("[0, 80]"), std::string::npos);
}

TEST_F(SessionTest, StatesGrowInPlace) {
  constexpr int kContext = 40, kWidth = 24;
  Graph graph;
  const ExprId t = graph.exprs.symbol("T", 1, 8);
  const ExprId past = graph.exprs.symbol("n_past", 0, kContext);
  const ExprId context = graph.exprs.constant(kContext), width = graph.exprs.constant(kWidth);
  const ValueId x = graph.input("x", DType::F32, {t, width});
  const ValueId cache = graph.state("cache", DType::F32, {context, width});
  const ValueId at = graph.iota(DType::I32, {t}, graph.exprs.add(graph.exprs.coord(0), past));
  const ValueId next = graph.scatter(cache, 0, at, x, ir::ScatterMode::Set);
  graph.output("cache", next, cache);
  graph.output("sum", graph.reduce(Prim::SumReduce, next, {0}));
  load({&graph});
  std::vector<float> sums(kWidth, 0.0f);
  int read = 0;
  for (int rows : {3, 8, 1, 7}) {
    const std::vector<float> input = random_floats(static_cast<std::size_t>(rows * kWidth), 9);
    for (int i = 0; i < rows * kWidth; ++i) sums[i % kWidth] += input[i];
    ASSERT_TRUE(session->set_symbol(0, "T", rows).ok());
    ASSERT_TRUE(session->set_symbol(0, "n_past", read).ok());
    give(0, "x", input);
    ASSERT_TRUE(session->run(0).ok());
    read += rows;
    const std::vector<float> sum = take(0, "sum");
    ASSERT_EQ(sum.size(), sums.size());
    for (int i = 0; i < kWidth; ++i) ASSERT_NEAR(sum[i], sums[i], 1e-5);
  }
}

TEST_F(SessionTest, SoftmaxOverTheLastAxis) {
  Graph graph;
  const ExprId rows = graph.exprs.symbol("rows", 1, 9), columns = graph.exprs.constant(37);
  const Shape shape = {rows, columns};
  const ValueId x = graph.input("x", DType::F32, shape);
  const ValueId top = graph.expand(graph.reduce(Prim::MaxReduce, x, {1}), shape, {0});
  const ValueId minus = graph.expand(graph.scalar(DType::F32, -1.0), shape, {});
  const ValueId log2e = graph.expand(graph.scalar(DType::F32, 1.4426950408889634), shape, {});
  const ValueId shifted = graph.map(Prim::Add, {x, graph.map(Prim::Mul, {top, minus})});
  const ValueId exponent = graph.map(Prim::Exp2, {graph.map(Prim::Mul, {shifted, log2e})});
  const ValueId sum = graph.expand(graph.reduce(Prim::SumReduce, exponent, {1}), shape, {0});
  graph.output("y", graph.map(Prim::Mul, {exponent, graph.map(Prim::Recip, {sum})}));
  load({&graph});
  const std::vector<float> input = random_floats(7 * 37, 3);
  ASSERT_TRUE(session->set_symbol(0, "rows", 7).ok());
  give(0, "x", input);
  ASSERT_TRUE(session->run(0).ok());
  const std::vector<float> y = take(0, "y");
  ASSERT_EQ(y.size(), input.size());
  for (int i = 0; i < 7; ++i) {
    double total = 0;
    for (int j = 0; j < 37; ++j) total += std::exp(static_cast<double>(input[i * 37 + j]));
    for (int j = 0; j < 37; ++j) ASSERT_NEAR(y[i * 37 + j], std::exp(input[i * 37 + j]) / total, 1e-6);
  }
}

TEST_F(SessionTest, MissingWeightsAreNamed) {
  Graph graph;
  const Shape shape = {graph.exprs.constant(4)};
  graph.output("y", graph.map(Prim::Exp2, {graph.weight("w", DType::F32, shape)}));
  auto made = cpu::make_cpu_backend("", 1);
  ASSERT_TRUE(made.ok());
  const Graph* list[] = {&graph};
  auto compiled = compiler::compile(list, **made, {});
  ASSERT_TRUE(compiled.ok());
  Team one(1);
  LoadOptions options;
  options.source = [](const std::string&) -> Result<std::span<const std::byte>> {
    static const std::byte kFew[3] = {};
    return std::span<const std::byte>(kFew);
  };
  const auto loaded = Session::create(std::move(compiled->executables), one, options);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("w"), std::string::npos);
  EXPECT_NE(loaded.error().message.find("3 bytes"), std::string::npos);
}

}  // namespace
}  // namespace luminal::runtime
