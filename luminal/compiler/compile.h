// SPDX-License-Identifier: MIT OR Apache-2.0
// The pipeline: graphs that share weights and states (the passes of one model) become executables for a back end.
//
//   graph -> program of regions (algebra/) -> layouts of weights, one decision for all -> plan (plan/) -> kernels
#pragma once

#include "luminal/ir/graph.h"
#include "luminal/plan/executable.h"

#include <span>
#include <vector>

namespace luminal::compiler {

struct CompileResult {
  std::vector<plan::Executable> executables;  ///< one a graph, in order
  target::CompileStats stats;                 ///< of all of them
};

/// The first graph decides the layout of the weights that it reads. Fails when a graph does not verify, a tensor has
/// no bound, or the back end fails.
Result<CompileResult> compile(std::span<const ir::Graph* const> graphs, target::Backend& backend,
                              const target::CompileOptions& options);

}  // namespace luminal::compiler
