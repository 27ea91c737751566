// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/algebra/fixed_cover.h"

#include "luminal/algebra/region_import.h"
#include "luminal/ir/verify.h"

#include <algorithm>
#include <map>

namespace luminal::algebra {
namespace {

using ir::Graph;
using ir::Prim;
using ir::Value;
using ir::ValueId;
using region::BufferId;
using region::Form;
using region::NodeKind;
using region::Program;
using region::Region;
using region::Stored;
using region::StoredKind;

StoredKind kind_of(ir::InputKind kind) {
  switch (kind) {
    case ir::InputKind::Input: return StoredKind::Input;
    case ir::InputKind::Weight: return StoredKind::Weight;
    case ir::InputKind::State: return StoredKind::State;
  }
  return StoredKind::Input;
}

class Coverer {
 public:
  explicit Coverer(const Graph& graph) : graph_(graph), choice_(choose_storage(graph)) {
    program_.exprs = graph.exprs;
  }

  Program run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const ValueId id(i);
      if (choice_.used[i] && choice_.stored[i]) buffer_of_[id] = compute(id, false);
    }
    for (const ir::Output& output : graph_.outputs()) {
      const ValueId value = choice_.same_as[output.value.index];
      BufferId state;
      if (output.state.valid()) state = buffer(output.state);
      program_.outputs.push_back({output.name, output_buffer(value), state});
    }
    return std::move(program_);
  }

 private:
  // Outputs are written by a step, each into a buffer of its own: an Input given out again is copied.
  BufferId output_buffer(ValueId value) {
    const bool computed = graph_[value].prim != Prim::Input;
    if (computed && given_out_.insert({value, true}).second) return buffer(value);
    return compute(value, true);
  }

  BufferId buffer(ValueId value) {
    value = choice_.same_as[value.index];
    const auto found = buffer_of_.find(value);
    if (found != buffer_of_.end()) return found->second;
    const Value& source = graph_[value];
    Stored stored{.dtype = source.dtype, .shape = source.shape};
    if (source.prim == Prim::Input) {
      stored.kind = kind_of(source.input->kind);
      stored.name = source.input->name;
      stored.finite = source.input->finite;
      stored.storage = source.input->storage;
    } else {
      LUM_CHECK(source.prim == Prim::Constant, "value ", value, " has no buffer");
      stored.kind = StoredKind::Constant;
      stored.bits = source.bits;
    }
    return buffer_of_[value] = program_.buffers.push(std::move(stored));
  }

  BufferId compute(ValueId value, bool copy) {
    ImportedRegion imported = import_region(graph_, choice_, program_.exprs, value, copy);
    region::Step step;
    for (ValueId read : imported.reads) step.buffers.push_back(buffer(read));
    if (!copy && graph_[value].prim == Prim::Scatter) step.dest = buffer(graph_[value].operands[0]);
    const BufferId out =
        program_.buffers.push({.dtype = graph_[value].dtype, .shape = graph_[value].shape});
    step.buffers.push_back(out);
    step.region = shared_region(std::move(imported.region));
    program_.steps.push_back(std::move(step));
    return out;
  }

  int shared_region(Region region) {
    std::string text = print(region, program_.exprs);
    const auto [found, added] =
        regions_.emplace(std::move(text), static_cast<int>(program_.regions.size()));
    if (added) program_.regions.push_back(std::move(region));
    return found->second;
  }

  const Graph& graph_;
  StorageChoice choice_;
  Program program_;
  std::map<ValueId, BufferId> buffer_of_;
  std::map<ValueId, bool> given_out_;
  std::map<std::string, int> regions_;
};

// The output axis that alone moves along axis `position` of a weight read at `index`, or -1.
int moving_output_axis(const Region& region, const ir::Exprs& exprs, ir::ExprId index) {
  int found = -1;
  for (const auto& [term, step] : exprs.linear(index).terms) {
    const ir::ExprNode& node = exprs.node(term);
    if (node.kind != ir::ExprKind::Coord || node.value >= region.output_rank) return -1;
    if (step == 1) found = static_cast<int>(node.value);
  }
  return found;
}

// Output axes that some activation of the region depends on.
std::vector<bool> activation_axes(const Program& program, const region::Step& step) {
  const Region& region = program.regions[step.region];
  const std::vector<std::uint64_t> axes = node_axes(region, program.exprs);
  std::vector<bool> used(region.axes.size(), false);
  for (std::size_t n = 0; n < region.nodes.size(); ++n) {
    const region::Node& node = region.nodes[n];
    if (node.kind != NodeKind::Load) continue;
    if (program.buffers[step.buffers[node.buffer]].kind == StoredKind::Weight) continue;
    for (std::size_t k = 0; k < used.size(); ++k) used[k] = used[k] || (axes[n] >> k & 1) != 0;
  }
  return used;
}

void vote(const Program& program, const region::Step& step, WeightLayouts& layouts) {
  const Region& region = program.regions[step.region];
  if (region.form != Form::Reduce) return;
  const std::vector<bool> active = activation_axes(program, step);
  for (const region::Node& node : region.nodes) {
    if (node.kind != NodeKind::Load) continue;
    const Stored& stored = program.buffers[step.buffers[node.buffer]];
    if (stored.kind != StoredKind::Weight || layouts.count(stored.name) != 0) continue;
    for (std::size_t position = 0; position < node.index.size(); ++position) {
      const int axis = moving_output_axis(region, program.exprs, node.index[position]);
      if (axis < 0 || active[axis]) continue;
      const auto extent = program.exprs.as_constant(stored.shape[position]);
      if (!extent || *extent < region::kLanes) continue;
      layouts[stored.name] = {static_cast<int>(position)};
      break;
    }
  }
}

}  // namespace

Result<Program> fixed_cover(const Graph& graph) {
  LUM_RETURN_IF_ERROR(ir::verify(graph));
  return Coverer(graph).run();
}

WeightLayouts choose_layouts(const Program& program) {
  WeightLayouts layouts;
  for (const region::Step& step : program.steps) vote(program, step, layouts);
  for (const Stored& stored : program.buffers) {
    if (stored.kind != StoredKind::Weight || layouts.count(stored.name) != 0) continue;
    const bool packed = ir::dtype_bits(stored.dtype) % 8 != 0;
    if (packed && !stored.shape.empty())
      layouts[stored.name] = {static_cast<int>(stored.shape.size()) - 1};
  }
  return layouts;
}

void apply_layouts(Program& program, const WeightLayouts& layouts) {
  for (Stored& stored : program.buffers) {
    const auto found = layouts.find(stored.name);
    if (stored.kind == StoredKind::Weight && found != layouts.end()) stored.layout = found->second;
  }
  std::map<std::pair<int, std::string>, int> variant;  // a region and its layouts -> its number
  std::vector<Region> regions;
  for (region::Step& step : program.steps) {
    Region region = program.regions[step.region];
    std::string layouts_text;
    for (std::size_t k = 0; k < region.buffers.size(); ++k) {
      region.buffers[k].layout = program.buffers[step.buffers[k]].layout;
      layouts_text += cat(region.buffers[k].layout.lane_axis, " ");
    }
    const auto [found, added] = variant.emplace(std::pair{step.region, layouts_text},
                                                static_cast<int>(regions.size()));
    if (added) regions.push_back(std::move(region));
    step.region = found->second;
  }
  program.regions = std::move(regions);
}

}  // namespace luminal::algebra
