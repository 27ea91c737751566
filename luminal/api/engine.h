// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable surface for C++ programs: an engine is a machine to compile for, with its threads; it turns graphs into
// sessions that run.
//
//   LUM_ASSIGN_OR_RETURN(auto engine, Engine::create({.threads = 2}));
//   ir::Graph graph;
//   ir::ValueId x = graph.input("x", ir::DType::F32, {graph.exprs.constant(4)});
//   graph.output("y", graph.map(ir::Prim::Exp2, {x}));
//   const ir::Graph* graphs[] = {&graph};
//   LUM_ASSIGN_OR_RETURN(auto session, engine->compile(graphs, {}));
//   session->set_input(0, "x", bytes);
//   session->run(0);
#pragma once

#include "luminal/ir/graph.h"
#include "luminal/runtime/session.h"
#include "luminal/target/backend.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace luminal {

struct EngineOptions {
  std::string backend = "cpu";  ///< see backend_names()
  int threads = 0;              ///< 0: all cores that this process may use
  std::string cache_folder;     ///< of compiled kernels; empty: none
};

struct SessionOptions {
  /// The bytes of weights by buffer name; they must live as long as the session.
  runtime::BufferSource source;
  /// Called with a stage ("compile", "load") and its progress. Returns false to stop. May be null.
  std::function<bool(std::string_view stage, std::int64_t done, std::int64_t total)> progress;
};

struct SessionTimes {
  double compile_s = 0;  ///< graphs to kernels
  double load_s = 0;     ///< weights laid out
  int kernels = 0, compiled = 0;
};

/// Not thread-safe. Must outlive its sessions; only one of them runs at a time.
class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(const EngineOptions& options);
  ~Engine();

  /// One session for graphs that share weights and states; program k of the session is graph k.
  Result<std::unique_ptr<runtime::Session>> compile(std::span<const ir::Graph* const> graphs,
                                                    const SessionOptions& options,
                                                    SessionTimes* times = nullptr);
  int threads() const;
  std::string_view backend() const;

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The names that EngineOptions::backend accepts, for messages: "cpu, reference".
std::string backend_names();

}  // namespace luminal
