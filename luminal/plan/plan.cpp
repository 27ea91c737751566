// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/plan/plan.h"

#include <algorithm>
#include <set>

namespace luminal::plan {
namespace {

using region::BufferId;
using region::Program;
using region::Step;
using region::StoredKind;

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kLargest = std::int64_t{1} << 46;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Lifetime {
  int first = -1;  // the step that writes it
  int last = -1;   // the last step that touches it; the number of steps if it outlives them
};

class Planner {
 public:
  explicit Planner(Program& program) : program_(program), end_(static_cast<int>(program.steps.size())) {
    plan_.placements.resize(program.buffers.size());
    plan_.steps.resize(program.steps.size());
    lifetimes_.resize(program.buffers.size());
    writer_.assign(program.buffers.size(), -1);
  }

  Result<Plan> run() {
    LUM_RETURN_IF_ERROR(measure());
    find_lifetimes();
    find_in_place_updates();
    place();
    find_meetings();
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const region::ProgramOutput& output = program_.outputs[k];
      if (output.state.valid() && root(output.buffer) != output.state)
        plan_.state_copies.push_back(static_cast<int>(k));
    }
    return std::move(plan_);
  }

 private:
  BufferId root(BufferId id) const { return plan_.placements[id].root; }

  Status measure() {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferId id(i);
      const region::Stored& stored = program_.buffers[id];
      const ir::ExprId size = byte_size(program_.exprs, stored.dtype, stored.shape, stored.layout);
      const ir::Interval bytes = program_.exprs.interval(size);
      if (bytes.hi > kLargest)
        return error("a tensor of up to ", bytes.hi, " bytes (", program_.exprs.print(size),
                     "): give its symbols smaller ranges");
      plan_.placements[id].bytes = std::max<std::int64_t>(bytes.hi, 0);
      plan_.placements[id].root = id;
    }
    return {};
  }

  void find_lifetimes() {
    for (int s = 0; s < end_; ++s) {
      const Step& step = program_.steps[s];
      for (BufferId id : step.buffers) lifetimes_[id.index].last = s;
      if (step.dest.valid()) lifetimes_[step.dest.index].last = s;
      lifetimes_[step.buffers.back().index].first = s;
      writer_[step.buffers.back().index] = s;
    }
    for (const region::ProgramOutput& output : program_.outputs)
      lifetimes_[output.buffer.index].last = end_;
  }

  // Buffers on the way from a State to the value that it holds after the run, by updates only.
  std::set<BufferId> state_chain(BufferId state) const {
    std::set<BufferId> chain;
    for (const region::ProgramOutput& output : program_.outputs) {
      if (output.state != state) continue;
      BufferId id = output.buffer;
      while (id != state && writer_[id.index] >= 0 && program_.steps[writer_[id.index]].dest.valid()) {
        chain.insert(id);
        id = program_.steps[writer_[id.index]].dest;
      }
      if (id != state) chain.clear();
    }
    return chain;
  }

  bool may_take(int s, const std::set<BufferId>& chain) const {
    const Step& step = program_.steps[s];
    const BufferId out = step.buffers.back();
    if (lifetimes_[step.dest.index].last > s) return false;
    if (std::count(step.buffers.begin(), step.buffers.end() - 1, step.dest) != 0) return false;
    const BufferId first = root(step.dest);
    if (plan_.placements[out].bytes != plan_.placements[first].bytes) return false;
    const StoredKind kind = program_.buffers[first].kind;
    return kind == StoredKind::Computed || (kind == StoredKind::State && chain.count(out) != 0);
  }

  void find_in_place_updates() {
    for (int s = 0; s < end_; ++s) {
      const Step& step = program_.steps[s];
      if (!step.dest.valid()) continue;
      const BufferId first = root(step.dest), out = step.buffers.back();
      const std::set<BufferId> chain = state_chain(first);
      if (!may_take(s, chain)) {
        plan_.steps[s].copy_dest = true;
        continue;
      }
      plan_.placements[out].root = first;
      lifetimes_[first.index].last = std::max(lifetimes_[first.index].last, lifetimes_[out.index].last);
    }
  }

  // Largest first, each at the lowest offset that is free during its life.
  void place() {
    std::vector<BufferId> order;
    std::vector<std::int64_t> alive(static_cast<std::size_t>(end_) + 1, 0);
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferId id(i);
      Placement& placement = plan_.placements[id];
      if (program_.buffers[id].kind != StoredKind::Computed || lifetimes_[i].first < 0) continue;
      if (placement.root != id) {
        const bool outside = program_.buffers[placement.root].kind != StoredKind::Computed;
        placement.place = outside ? Place::Alias : Place::Slab;
        continue;
      }
      placement.place = Place::Slab;
      order.push_back(id);
      for (int s = lifetimes_[i].first; s <= lifetimes_[i].last; ++s) alive[s] += aligned(placement.bytes);
    }
    plan_.lower_bound_bytes = *std::max_element(alive.begin(), alive.end());
    std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
      return plan_.placements[a].bytes > plan_.placements[b].bytes;
    });
    std::vector<BufferId> placed;  // by offset
    for (BufferId id : order) place_one(id, placed);
    for (Placement& placement : plan_.placements)
      if (placement.place == Place::Slab) placement.offset = plan_.placements[placement.root].offset;
  }

  void place_one(BufferId id, std::vector<BufferId>& placed) {
    const std::int64_t bytes = aligned(plan_.placements[id].bytes);
    std::int64_t offset = 0;
    for (BufferId other : placed) {
      const Placement& taken = plan_.placements[other];
      const Lifetime &a = lifetimes_[id.index], &b = lifetimes_[other.index];
      if (a.last < b.first || b.last < a.first) continue;
      if (taken.offset >= offset + bytes) break;
      offset = std::max(offset, taken.offset + aligned(taken.bytes));
    }
    plan_.placements[id].offset = offset;
    plan_.slab_bytes = std::max(plan_.slab_bytes, offset + bytes);
    const auto at = std::find_if(placed.begin(), placed.end(), [&](BufferId other) {
      return plan_.placements[other].offset > offset;
    });
    placed.insert(at, id);
  }

  bool overlap(BufferId a, BufferId b) const {
    const BufferId x = root(a), y = root(b);
    if (x == y) return true;
    const Placement &p = plan_.placements[x], &q = plan_.placements[y];
    if (p.place != Place::Slab || q.place != Place::Slab) return false;
    return p.offset < q.offset + aligned(q.bytes) && q.offset < p.offset + aligned(p.bytes);
  }

  // Steps between two meetings touch disjoint memory, reads of the same tensor aside.
  void find_meetings() {
    std::vector<BufferId> read, written;
    auto any = [&](const std::vector<BufferId>& set, BufferId id) {
      return std::any_of(set.begin(), set.end(), [&](BufferId other) { return overlap(other, id); });
    };
    for (int s = 0; s < end_; ++s) {
      const Step& step = program_.steps[s];
      const BufferId out = step.buffers.back();
      std::vector<BufferId> reads(step.buffers.begin(), step.buffers.end() - 1);
      if (step.dest.valid()) reads.push_back(step.dest);
      bool meet = any(written, out) || any(read, out);
      for (BufferId id : reads) meet = meet || any(written, id);
      if (meet) {
        plan_.steps[s].meet_before = true;
        read.clear();
        written.clear();
      }
      read.insert(read.end(), reads.begin(), reads.end());
      written.push_back(out);
    }
  }

  Program& program_;
  int end_;
  Plan plan_;
  std::vector<Lifetime> lifetimes_;
  std::vector<int> writer_;
};

}  // namespace

Result<Plan> make_plan(Program& program) { return Planner(program).run(); }

}  // namespace luminal::plan
