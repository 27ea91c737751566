// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/runtime/session.h"

#include "luminal/base/team.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace luminal::runtime {
namespace {

using ir::ExprId;
using region::BufferId;
using region::Program;
using region::Stored;
using region::StoredKind;

constexpr std::int64_t kAlignment = 64;
// Kernels may load a vector that begins before a row's first element.
constexpr std::int64_t kMargin = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A copy that workers share: [from, from + bytes) to `to`.
struct Copy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  ExprId bytes;
};

struct LoadedStep {
  const target::Kernel* kernel = nullptr;
  std::vector<std::byte*> buffers;
  bool meet_before = false;
  Copy copy;  // to == nullptr: none
};

struct LoadedProgram {
  Executable executable;
  std::vector<std::int64_t> symbols;
  Store<BufferId, std::byte*> address;
  Store<BufferId, ExprId> bytes;
  std::vector<LoadedStep> steps;
  std::vector<Copy> state_copies;
  Memory own;  // inputs and constants

  std::int64_t size(ExprId bytes_expr) const {
    return executable.program.exprs.evaluate(bytes_expr, {}, symbols);
  }
};

void write_constant(const Stored& stored, std::byte* to) {
  const auto width = static_cast<std::size_t>(ir::dtype_bytes(stored.dtype));
  for (std::size_t k = 0; k < stored.bits.size(); ++k)
    std::memcpy(to + k * width, &stored.bits[k], width);
}

}  // namespace

struct Session::Impl {
  explicit Impl(Team& workers) : team(workers) {}

  Team& team;
  std::vector<LoadedProgram> programs;
  Weights weights;
  Memory states, slab, scratch;
  std::int64_t scratch_stride = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> state_places;  // name -> offset, bytes

  Status place_states();
  Status place_own(LoadedProgram& loaded);
  Status place_shared();
  Status bind(LoadedProgram& loaded);
  void run_worker(const LoadedProgram& loaded, int worker, int count);
  Result<BufferId> find(const LoadedProgram& loaded, StoredKind kind, std::string_view name) const;
};

// States of one name are one in all programs.
Status Session::Impl::place_states() {
  std::int64_t total = kMargin;
  for (LoadedProgram& loaded : programs) {
    const Program& program = loaded.executable.program;
    for (std::size_t k = 0; k < program.buffers.size(); ++k) {
      const Stored& stored = program.buffers[BufferId(k)];
      if (stored.kind != StoredKind::State) continue;
      const std::int64_t bytes = loaded.executable.plan.placements[BufferId(k)].bytes;
      const auto [place, added] = state_places.try_emplace(stored.name, total, bytes);
      if (added) total += aligned(bytes);
      if (place->second.second != bytes)
        return error("state ", stored.name, " has ", bytes, " bytes in one program and ",
                     place->second.second, " in another");
    }
  }
  LUM_ASSIGN_OR_RETURN(states, Memory::allocate(total + kMargin, true));
  return {};
}

Status Session::Impl::place_own(LoadedProgram& loaded) {
  const Program& program = loaded.executable.program;
  std::vector<std::pair<BufferId, std::int64_t>> places;
  std::int64_t total = kMargin;
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    const StoredKind kind = program.buffers[BufferId(k)].kind;
    if (kind != StoredKind::Input && kind != StoredKind::Constant) continue;
    places.emplace_back(BufferId(k), total);
    total += aligned(loaded.executable.plan.placements[BufferId(k)].bytes);
  }
  LUM_ASSIGN_OR_RETURN(loaded.own, Memory::allocate(total + kMargin, false));
  for (const auto& [id, offset] : places) {
    loaded.address[id] = loaded.own.data() + offset;
    if (program.buffers[id].kind == StoredKind::Constant)
      write_constant(program.buffers[id], loaded.address[id]);
  }
  return {};
}

Status Session::Impl::place_shared() {
  std::int64_t slab_bytes = 0;
  for (const LoadedProgram& loaded : programs) {
    slab_bytes = std::max(slab_bytes, loaded.executable.plan.slab_bytes);
    for (const auto& kernel : loaded.executable.kernels)
      scratch_stride = std::max(scratch_stride, aligned(kernel->scratch_bytes() + kMargin));
  }
  LUM_ASSIGN_OR_RETURN(slab, Memory::allocate(slab_bytes + 2 * kMargin, true));
  LUM_ASSIGN_OR_RETURN(scratch, Memory::allocate(scratch_stride * team.count() + kMargin, true));
  return {};
}

// Addresses of all tensors, and of each step's.
Status Session::Impl::bind(LoadedProgram& loaded) {
  Program& program = loaded.executable.program;
  const plan::Plan& plan = loaded.executable.plan;
  loaded.address.resize(program.buffers.size());
  loaded.bytes.resize(program.buffers.size());
  LUM_RETURN_IF_ERROR(place_own(loaded));
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    const BufferId id(k);
    const Stored& stored = program.buffers[id];
    loaded.bytes[id] = byte_size(program.exprs, stored.dtype, stored.shape, stored.layout);
    if (stored.kind == StoredKind::State)
      loaded.address[id] = states.data() + state_places.at(stored.name).first;
    // Kernels never write weights; the file's pages are mapped read-only.
    if (stored.kind == StoredKind::Weight)
      loaded.address[id] = const_cast<std::byte*>(weights.data.at(stored.name));
    if (plan.placements[id].place == plan::Place::Slab)
      loaded.address[id] = slab.data() + kMargin + plan.placements[id].offset;
  }
  for (std::size_t k = 0; k < program.buffers.size(); ++k)
    if (plan.placements[BufferId(k)].place == plan::Place::Alias)
      loaded.address[BufferId(k)] = loaded.address[plan.placements[BufferId(k)].root];
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const region::Step& step = program.steps[s];
    LoadedStep made;
    made.kernel = loaded.executable.kernels[static_cast<std::size_t>(step.region)].get();
    made.meet_before = plan.steps[s].meet_before;
    for (BufferId id : step.buffers) made.buffers.push_back(loaded.address[id]);
    const BufferId out = step.buffers.back();
    if (plan.steps[s].copy_dest)
      made.copy = {loaded.address[step.dest], loaded.address[out], loaded.bytes[out]};
    loaded.steps.push_back(std::move(made));
  }
  for (int number : plan.state_copies) {
    const region::ProgramOutput& output = program.outputs[static_cast<std::size_t>(number)];
    loaded.state_copies.push_back(
        {loaded.address[output.buffer], loaded.address[output.state], loaded.bytes[output.state]});
  }
  loaded.symbols.resize(program.exprs.symbol_count());
  for (std::size_t k = 0; k < loaded.symbols.size(); ++k)
    loaded.symbols[k] = program.exprs.symbol_info(ir::SymbolId(k)).range.lo;
  return {};
}

Result<std::unique_ptr<Session>> Session::create(std::vector<Executable> programs, Team& team,
                                                 const LoadOptions& options) {
  auto impl = std::make_unique<Impl>(team);
  std::vector<Program*> pointers;
  for (Executable& executable : programs) {
    impl->programs.emplace_back();
    impl->programs.back().executable = std::move(executable);
  }
  for (LoadedProgram& loaded : impl->programs) pointers.push_back(&loaded.executable.program);
  LUM_ASSIGN_OR_RETURN(impl->weights, load_weights(pointers, team, options));
  LUM_RETURN_IF_ERROR(impl->place_states());
  LUM_RETURN_IF_ERROR(impl->place_shared());
  for (LoadedProgram& loaded : impl->programs) LUM_RETURN_IF_ERROR(impl->bind(loaded));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Status Session::set_symbol(int program, std::string_view name, std::int64_t value) {
  LoadedProgram& loaded = impl_->programs[static_cast<std::size_t>(program)];
  const ir::Exprs& exprs = loaded.executable.program.exprs;
  const auto id = exprs.find_symbol(name);
  if (!id) return error("the program has no symbol '", name, "'");
  const ir::Interval range = exprs.symbol_info(*id).range;
  if (!range.contains(value))
    return error("symbol ", name, ": ", value, " is outside of [", range.lo, ", ", range.hi, "]");
  loaded.symbols[id->index] = value;
  return {};
}

Result<BufferId> Session::Impl::find(const LoadedProgram& loaded, StoredKind kind,
                                     std::string_view name) const {
  const auto& buffers = loaded.executable.program.buffers;
  for (std::size_t k = 0; k < buffers.size(); ++k)
    if (buffers[BufferId(k)].kind == kind && buffers[BufferId(k)].name == name) return BufferId(k);
  return error("the program has no input '", name, "'");
}

Status Session::set_input(int program, std::string_view name, std::span<const std::byte> bytes) {
  LoadedProgram& loaded = impl_->programs[static_cast<std::size_t>(program)];
  LUM_ASSIGN_OR_RETURN(const BufferId id, impl_->find(loaded, StoredKind::Input, name));
  const std::int64_t wanted = loaded.size(loaded.bytes[id]);
  if (static_cast<std::int64_t>(bytes.size()) != wanted)
    return error("input ", name, ": ", bytes.size(), " bytes, ", wanted, " expected");
  if (!bytes.empty()) std::memcpy(loaded.address[id], bytes.data(), bytes.size());
  return {};
}

namespace {

void copy_part(const LoadedProgram& loaded, const Copy& copy, int worker, int count) {
  const std::int64_t bytes = loaded.size(copy.bytes);
  const std::int64_t begin = bytes * worker / count, end = bytes * (worker + 1) / count;
  if (begin < end)
    std::memcpy(copy.to + begin, copy.from + begin, static_cast<std::size_t>(end - begin));
}

}  // namespace

void Session::Impl::run_worker(const LoadedProgram& loaded, int worker, int count) {
  target::Launch launch;
  launch.symbols = loaded.symbols;
  launch.scratch = scratch.data() + kMargin + scratch_stride * worker;
  for (const LoadedStep& step : loaded.steps) {
    if (step.meet_before) team.barrier();
    if (step.copy.to != nullptr) {
      copy_part(loaded, step.copy, worker, count);
      team.barrier();
    }
    const std::int64_t tasks = step.kernel->tasks(loaded.symbols);
    launch.begin = tasks * worker / count;
    launch.end = tasks * (worker + 1) / count;
    if (launch.begin == launch.end) continue;
    launch.buffers = step.buffers;
    step.kernel->run(launch);
  }
  if (loaded.state_copies.empty()) return;
  team.barrier();
  for (const Copy& copy : loaded.state_copies) copy_part(loaded, copy, worker, count);
}

Status Session::run(int program) {
  const LoadedProgram& loaded = impl_->programs[static_cast<std::size_t>(program)];
  impl_->team.run([&](int worker, int count) { impl_->run_worker(loaded, worker, count); });
  return {};
}

std::span<const std::byte> Session::output(int program, std::string_view name) {
  const LoadedProgram& loaded = impl_->programs[static_cast<std::size_t>(program)];
  for (const region::ProgramOutput& output : loaded.executable.program.outputs)
    if (output.name == name)
      return {loaded.address[output.buffer],
              static_cast<std::size_t>(loaded.size(loaded.bytes[output.buffer]))};
  return {};
}

void Session::clear_states() {
  std::memset(impl_->states.data(), 0, static_cast<std::size_t>(impl_->states.bytes()));
}

std::int64_t Session::weight_bytes() const { return impl_->weights.memory.bytes(); }
std::int64_t Session::slab_bytes() const { return impl_->slab.bytes(); }
std::int64_t Session::state_bytes() const { return impl_->states.bytes(); }

}  // namespace luminal::runtime
