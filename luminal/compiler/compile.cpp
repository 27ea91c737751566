// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/compiler/compile.h"

#include "luminal/algebra/fixed_cover.h"

namespace luminal::compiler {

Result<CompileResult> compile(std::span<const ir::Graph* const> graphs, target::Backend& backend,
                              const target::CompileOptions& options) {
  std::vector<region::Program> programs;
  algebra::WeightLayouts layouts;
  for (const ir::Graph* graph : graphs) {
    LUM_ASSIGN_OR_RETURN(region::Program program, algebra::fixed_cover(*graph));
    layouts.merge(algebra::choose_layouts(program));
    programs.push_back(std::move(program));
  }
  CompileResult result;
  for (region::Program& program : programs) {
    algebra::apply_layouts(program, layouts);
    LUM_RETURN_IF_ERROR(region::verify(program));
    plan::Executable executable;
    LUM_ASSIGN_OR_RETURN(executable.plan, plan::make_plan(program));
    target::CompileStats stats;
    LUM_ASSIGN_OR_RETURN(executable.kernels,
                         backend.compile(program.exprs, program.regions, options, &stats));
    executable.program = std::move(program);
    result.executables.push_back(std::move(executable));
    result.stats.kernels += stats.kernels;
    result.stats.compiled += stats.compiled;
    result.stats.cached += stats.cached;
    result.stats.seconds += stats.seconds;
  }
  return result;
}

}  // namespace luminal::compiler
