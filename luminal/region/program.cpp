// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/region/program.h"

namespace luminal::region {
namespace {

Status check_step(const Program& program, const Step& step, std::vector<bool>& written) {
  if (step.region < 0 || step.region >= static_cast<int>(program.regions.size()))
    return error("no region ", step.region);
  const Region& region = program.regions[step.region];
  if (step.buffers.size() != region.buffers.size())
    return error(step.buffers.size(), " buffers for a region of ", region.buffers.size());
  for (std::size_t k = 0; k < step.buffers.size(); ++k) {
    const BufferId id = step.buffers[k];
    if (!program.buffers.contains(id)) return error("no buffer ", id);
    const Stored& stored = program.buffers[id];
    const Buffer& expected = region.buffers[k];
    if (stored.dtype != expected.dtype || stored.shape != expected.shape ||
        stored.layout != expected.layout)
      return error("buffer ", id, " is not what operand ", k, " of region ", step.region, " wants");
    const bool output = k + 1 == step.buffers.size();
    const bool computed = stored.kind == StoredKind::Computed;
    if (!output && computed && !written[id.index])
      return error("buffer ", id, " is read before it is written");
    if (output && (!computed || written[id.index]))
      return error("buffer ", id, " is written twice or is not the program's to write");
    if (output) written[id.index] = true;
  }
  if ((region.form == Form::Update) != step.dest.valid())
    return error("a step has a destination to start from if and only if it is an update");
  return {};
}

}  // namespace

Status verify(const Program& program) {
  std::vector<bool> written(program.buffers.size(), false);
  for (std::size_t r = 0; r < program.regions.size(); ++r) {
    const Status status = verify(program.regions[r], program.exprs);
    if (!status.ok()) return status.error().within(cat("region ", r));
  }
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Status status = check_step(program, program.steps[s], written);
    if (!status.ok()) return status.error().within(cat("step ", s));
  }
  for (const ProgramOutput& output : program.outputs)
    if (!program.buffers.contains(output.buffer) || !written[output.buffer.index])
      return error("output ", output.name, " is never written");
  return {};
}

}  // namespace luminal::region
