// SPDX-License-Identifier: MIT OR Apache-2.0
// Map and Reduce as loop nests. Whole lane groups run as vectors, the rest of the lane axis as scalars.
#include "luminal/codegen/emit.h"

namespace luminal::codegen {
namespace {

using region::kLanes;
using region::NodeId;

constexpr std::int64_t kMapBlock = 1024;
constexpr int kChains = 4;  // independent accumulators, to hide the latency of an addition

// Runs `write` for whole lane groups of [from, to) and then for single coordinates.
template <class Write>
void over_lanes(Emit& emit, int axis, const TaskRange& range, Write write) {
  Writer& out = emit.writer;
  const std::string lane = cat("c", axis);
  const std::int64_t extent = emit.constant_extent(axis);
  out.line("long ", lane, " = ", range.from, ";");
  out.open("for (; ", lane, " + ", kLanes, " <= ", range.to, "; ", lane, " += ", kLanes, ")");
  emit.body.push();
  emit.body.bind_lanes(axis, lane, kLanes);
  write(true);
  emit.body.pop();
  out.close();
  if (extent > 0 && extent % kLanes == 0) return;
  out.open("for (; ", lane, " < ", range.to, "; ++", lane, ")");
  emit.body.push();
  emit.body.bind_lanes(axis, lane, 1);
  write(false);
  emit.body.pop();
  out.close();
}

// The reduction of one output point or lane group.
class Reduction {
 public:
  Reduction(Emit& emit, bool vector)
      : emit_(emit), vector_(vector), c_(accumulator_class(emit.region)) {
    const std::vector<NodeId> factors = product_factors(emit.region);
    if (factors.size() == 2) operands_ = factors;
    wanted_ = emit.body.reach(operands_.empty() ? emit.region.roots : operands_);
  }

  const std::vector<bool>& wanted() const { return wanted_; }

  std::string declare(const std::string& start, bool vector) {
    const std::string name = emit_.writer.fresh("acc");
    emit_.writer.line(c_type(c_, vector), " ", name, " = ", start, ";");
    return name;
  }

  // One step at the point bound now.
  void accumulate(const std::string& accumulator, bool vector) {
    emit_.body.emit_ready(wanted_);
    if (operands_.empty()) {
      const std::string value = emit_.body.text(emit_.region.roots[0], vector);
      emit_.writer.line(accumulator, " = ", combine(emit_.region, accumulator, value), ";");
    } else {
      emit_.writer.line(accumulator, " = lum_fma(", emit_.body.text(operands_[0], vector), ", ",
                        emit_.body.text(operands_[1], vector), ", ", accumulator, ");");
    }
  }

  // Loops over `axes`; the last one with kChains accumulators. Gives the name of the result.
  std::string loop(const std::vector<int>& axes) {
    Writer& out = emit_.writer;
    std::vector<std::string> chains;
    const int count = axes.empty() ? 1 : kChains;
    for (int k = 0; k < count; ++k) chains.push_back(declare(identity(emit_.region, vector_), vector_));
    emit_.body.push();
    emit_.body.emit_ready(wanted_);
    for (std::size_t k = 0; k + 1 < axes.size(); ++k) open_loop(axes[k]);
    if (axes.empty()) {
      accumulate(chains[0], vector_);
    } else {
      inner_loop(axes.back(), chains);
    }
    for (std::size_t k = 0; k + 1 < axes.size(); ++k) {
      emit_.body.pop();
      out.close();
    }
    emit_.body.pop();
    return merge(chains);
  }

  // The lane axis is the innermost reduced one: lanes are partial results, put together at the end.
  std::string loop_over_lanes(const std::vector<int>& outer, int axis) {
    Writer& out = emit_.writer;
    std::vector<std::string> chains;
    for (int k = 0; k < kChains; ++k) chains.push_back(declare(identity(emit_.region, true), true));
    const std::string tail = declare(identity(emit_.region, false), false);
    emit_.body.push();
    emit_.body.emit_ready(wanted_);
    for (int k : outer) open_loop(k);
    const std::string lane = cat("c", axis), extent = emit_.extent(axis);
    out.line("long ", lane, " = 0;");
    lane_steps(axis, lane, extent, kChains, chains);
    lane_steps(axis, lane, extent, 1, chains);
    if (emit_.constant_extent(axis) == 0 || emit_.constant_extent(axis) % kLanes != 0) {
      out.open("for (; ", lane, " < ", extent, "; ++", lane, ")");
      emit_.body.push();
      emit_.body.bind_lanes(axis, lane, 1);
      accumulate(tail, false);
      emit_.body.pop();
      out.close();
    }
    for (std::size_t k = 0; k < outer.size(); ++k) {
      emit_.body.pop();
      out.close();
    }
    emit_.body.pop();
    const std::string lanes = merge(chains);
    out.line("for (int l = 0; l < ", kLanes, "; ++l) ", tail, " = ",
             combine(emit_.region, tail, cat(lanes, "[l]")), ";");
    return tail;
  }

 private:
  void open_loop(int axis) {
    const std::string name = cat("c", axis);
    emit_.writer.open("for (long ", name, " = 0; ", name, " < ", emit_.extent(axis), "; ++", name, ")");
    emit_.body.push();
    emit_.body.bind(axis, name);
    emit_.body.emit_ready(wanted_);
  }

  void inner_loop(int axis, const std::vector<std::string>& chains) {
    Writer& out = emit_.writer;
    const std::string name = cat("c", axis), extent = emit_.extent(axis);
    const std::int64_t constant = emit_.constant_extent(axis);
    out.line("long ", name, " = 0;");
    if (constant == 0 || constant >= kChains) {
      out.open("for (; ", name, " + ", kChains, " <= ", extent, "; ", name, " += ", kChains, ")");
      for (int k = 0; k < kChains; ++k) step_at(axis, cat("(", name, " + ", k, ")"), chains[k]);
      out.close();
    }
    if (constant == 0 || constant % kChains != 0) {
      out.open("for (; ", name, " < ", extent, "; ++", name, ")");
      step_at(axis, name, chains[0]);
      out.close();
    }
  }

  void step_at(int axis, const std::string& coordinate, const std::string& accumulator) {
    emit_.body.push();
    emit_.body.bind(axis, coordinate);
    accumulate(accumulator, vector_);
    emit_.body.pop();
  }

  void lane_steps(int axis, const std::string& lane, const std::string& extent, int count,
                  const std::vector<std::string>& chains) {
    const int step = kLanes * count;
    if (emit_.constant_extent(axis) > 0 && emit_.constant_extent(axis) < step) return;
    emit_.writer.open("for (; ", lane, " + ", step, " <= ", extent, "; ", lane, " += ", step, ")");
    for (int k = 0; k < count; ++k) {
      emit_.body.push();
      emit_.body.bind_lanes(axis, cat("(", lane, " + ", k * kLanes, ")"), kLanes);
      accumulate(chains[k], true);
      emit_.body.pop();
    }
    emit_.writer.close();
  }

  std::string merge(const std::vector<std::string>& chains) {
    for (std::size_t k = 1; k < chains.size(); ++k)
      emit_.writer.line(chains[0], " = ", combine(emit_.region, chains[0], chains[k]), ";");
    return chains[0];
  }

  Emit& emit_;
  bool vector_;
  Class c_;
  std::vector<NodeId> operands_;  // of a product that is summed by fused multiply-add
  std::vector<bool> wanted_;
};

}  // namespace

void lower_map(Emit& emit) {
  const std::vector<bool> wanted = emit.body.reach(emit.region.roots);
  const NodeId root = emit.region.roots[0];
  const int lanes = emit.knobs.lane_axis;
  const TaskRange range =
      begin_tasks(emit, output_axes(emit, lanes), lanes, lanes >= 0 ? kMapBlock : 0);
  emit.body.emit_ready(wanted);
  auto write = [&](bool vector) {
    emit.body.emit_ready(wanted);
    emit.body.store(emit.body.text(root, vector), vector);
  };
  if (lanes >= 0)
    over_lanes(emit, lanes, range, write);
  else
    write(false);
  end_tasks(emit);
}

void lower_reduce(Emit& emit) {
  const int lanes = emit.knobs.lane_axis;
  const bool lane_is_output = lanes >= 0 && lanes < emit.region.output_rank;
  std::vector<int> reduced = reduced_axes(emit);
  const TaskRange range = begin_tasks(emit, output_axes(emit, lane_is_output ? lanes : -1), lanes,
                                      lane_is_output ? kLanes : 0);
  if (lane_is_output) {
    over_lanes(emit, lanes, range, [&](bool vector) {
      Reduction reduction(emit, vector);
      emit.body.store(reduction.loop(reduced), vector);
    });
  } else {
    Reduction reduction(emit, false);
    std::erase(reduced, lanes);
    emit.body.store(lanes >= 0 ? reduction.loop_over_lanes(reduced, lanes) : reduction.loop(reduced),
                    false);
  }
  end_tasks(emit);
}

}  // namespace luminal::codegen
