// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/runtime/weights.h"

#include "luminal/base/team.h"

#include <sys/mman.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace luminal::runtime {
namespace {

using ir::ExprId;
using ir::Exprs;
using region::kLanes;
using region::Layout;
using region::Program;
using region::Stored;
using region::StoredKind;

// A weight as the packer sees it: where element (i0, i1, ..) lies in the file, by steps of bits if they are constant.
struct Source {
  std::string name;
  ir::DType dtype;
  Layout layout;
  bool finite = false;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
  std::optional<std::vector<std::int64_t>> steps;  // bits per axis
  std::int64_t start = 0;                          // bit of element 0
  Exprs* exprs = nullptr;                          // else: evaluated for each element
  ExprId offset;
  std::int64_t target = 0;                         // offset in our memory, -1: stays in the file
};

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

std::optional<std::vector<std::int64_t>> bit_steps(const Exprs& exprs, ExprId offset, int rank) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(rank), 0);
  for (const auto& [term, step] : exprs.linear(offset).terms) {
    const ir::ExprNode& node = exprs.node(term);
    if (node.kind != ir::ExprKind::Coord) return std::nullopt;
    steps[static_cast<std::size_t>(node.value)] = step;
  }
  return steps;
}

Result<Source> describe(Program& program, const Stored& stored, const BufferSource& buffers) {
  Source source{.name = stored.name, .dtype = stored.dtype, .layout = stored.layout, .finite = stored.finite};
  Exprs& exprs = program.exprs;
  std::vector<ir::Interval> ranges;
  for (ExprId extent : stored.shape) {
    const auto constant = exprs.as_constant(extent);
    if (!constant) return error("weight ", stored.name, ": extents of weights must be constant");
    source.shape.push_back(*constant);
    ranges.push_back({0, std::max<std::int64_t>(*constant - 1, 0)});
  }
  const int rank = static_cast<int>(source.shape.size());
  const int bits = ir::dtype_bits(stored.dtype);
  if (stored.storage) {
    source.offset = stored.storage->bit_offset;
  } else {
    std::vector<ExprId> coords;
    for (int axis = 0; axis < rank; ++axis) coords.push_back(exprs.coord(axis));
    const ExprId element = region::element_offset(exprs, stored.shape, {}, coords);
    source.offset = exprs.mul(element, exprs.constant(8 * ir::dtype_bytes(stored.dtype)));
  }
  const std::string& buffer = stored.storage ? stored.storage->buffer : stored.name;
  LUM_ASSIGN_OR_RETURN(source.bytes, buffers(buffer));
  const ir::Interval reach = exprs.interval(source.offset, ranges);
  const auto size = static_cast<std::int64_t>(source.bytes.size());
  if (count_of(source.shape) > 0 && (reach.lo < 0 || reach.hi + bits > size * 8))
    return error("weight ", stored.name, ": reads up to bit ", reach.hi + bits, " of buffer ", buffer,
                 ", which has ", size, " bytes");
  source.steps = bit_steps(exprs, source.offset, rank);
  source.start = exprs.linear(source.offset).constant;
  source.exprs = &exprs;
  return source;
}

// True when the file holds the weight as a dense tensor already.
bool lies_dense(const Source& source) {
  if (source.layout.lane_axis >= 0 || !source.steps || source.start % 8 != 0) return false;
  if (ir::dtype_bits(source.dtype) % 8 != 0) return false;
  std::int64_t step = ir::dtype_bits(source.dtype);
  for (std::size_t axis = source.shape.size(); axis-- > 0;) {
    if (source.shape[axis] != 1 && (*source.steps)[axis] != step) return false;
    step *= source.shape[axis];
  }
  return true;
}

std::uint64_t read_field(const std::byte* bytes, std::int64_t bit, int bits) {
  std::uint64_t word = 0;
  const int shift = static_cast<int>(bit & 7);
  std::memcpy(&word, bytes + (bit >> 3), static_cast<std::size_t>((shift + bits + 7) / 8));
  word >>= shift;
  return bits == 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
}

bool is_finite(ir::DType dtype, std::uint64_t bits) { return std::isfinite(ir::decode(dtype, bits)); }

// Packs groups [first, last) of the outermost index of the layout; gives the number of numbers that are not finite.
class Packer {
 public:
  Packer(const Source& source, std::byte* target)
      : source_(source),
        target_(target),
        bits_(ir::dtype_bits(source.dtype)),
        stored_bits_(region::stored_bits(source.dtype, source.layout)),
        check_(source.finite && ir::is_float(source.dtype)),
        lanes_(source.layout.lane_axis >= 0 ? kLanes : 1) {
    for (int axis = 0; axis < static_cast<int>(source.shape.size()); ++axis)
      if (axis != source.layout.lane_axis) others_.push_back(axis);
    inner_ = 1;
    for (int axis : others_) inner_ *= source.shape[static_cast<std::size_t>(axis)];
    for (int lane = 0; lane < kLanes; ++lane) lane_bits_[lane] = region::lane_bit(stored_bits_, lane);
  }

  /// Lanes: lane groups. Dense: single elements.
  std::int64_t units() const {
    if (lanes_ == 1) return inner_;
    const std::int64_t extent = source_.shape[static_cast<std::size_t>(source_.layout.lane_axis)];
    return (extent + kLanes - 1) / kLanes * inner_;
  }

  std::int64_t pack(std::int64_t first, std::int64_t last) {
    std::int64_t bad = 0;
    std::vector<std::int64_t> at(source_.shape.size(), 0);
    const std::int64_t group_bytes = lanes_ * stored_bits_ / 8;
    for (std::int64_t unit = first; unit < last; ++unit) {
      std::int64_t rest = unit % inner_;
      for (std::size_t k = others_.size(); k-- > 0;) {
        const auto axis = static_cast<std::size_t>(others_[k]);
        at[axis] = rest % source_.shape[axis];
        rest /= source_.shape[axis];
      }
      std::byte* out = target_ + unit * group_bytes;
      bad += lanes_ == 1 ? pack_element(at, out) : pack_group(at, unit / inner_, out);
    }
    return bad;
  }

 private:
  std::int64_t offset(const std::vector<std::int64_t>& at) const {
    if (!source_.steps) return source_.exprs->evaluate(source_.offset, at, {});
    std::int64_t bit = source_.start;
    for (std::size_t axis = 0; axis < at.size(); ++axis) bit += (*source_.steps)[axis] * at[axis];
    return bit;
  }

  std::int64_t pack_element(const std::vector<std::int64_t>& at, std::byte* out) {
    const std::uint64_t value = read_field(source_.bytes.data(), offset(at), bits_);
    std::memcpy(out, &value, static_cast<std::size_t>(stored_bits_ / 8));
    return check_ && !is_finite(source_.dtype, value) ? 1 : 0;
  }

  std::int64_t pack_group(std::vector<std::int64_t>& at, std::int64_t group, std::byte* out) {
    const auto axis = static_cast<std::size_t>(source_.layout.lane_axis);
    const std::int64_t extent = source_.shape[axis];
    const int filled = static_cast<int>(std::min<std::int64_t>(kLanes, extent - group * kLanes));
    std::int64_t bad = 0;
    std::uint64_t word = 0;
    at[axis] = group * kLanes;
    std::int64_t bit = offset(at);
    const std::int64_t step = source_.steps ? (*source_.steps)[axis] : 0;
    for (int lane = 0; lane < filled; ++lane) {
      const std::uint64_t value = read_field(source_.bytes.data(), bit, bits_);
      if (check_ && !is_finite(source_.dtype, value)) ++bad;
      if (stored_bits_ < 8)
        word |= value << lane_bits_[lane];
      else
        std::memcpy(out + lane * stored_bits_ / 8, &value, static_cast<std::size_t>(stored_bits_ / 8));
      if (source_.steps) {
        bit += step;
      } else if (lane + 1 < filled) {
        ++at[axis];
        bit = offset(at);
      }
    }
    if (stored_bits_ < 8) std::memcpy(out, &word, static_cast<std::size_t>(kLanes * stored_bits_ / 8));
    return bad;
  }

  const Source& source_;
  std::byte* target_;
  int bits_, stored_bits_;
  bool check_;
  int lanes_;
  std::vector<int> others_;
  std::int64_t inner_ = 1;
  int lane_bits_[kLanes];
};

Status pack_one(const Source& source, std::byte* target, Team& team) {
  std::atomic<std::int64_t> bad{0};
  team.run([&](int worker, int count) {
    Packer packer(source, target);
    const std::int64_t units = packer.units();
    bad += packer.pack(units * worker / count, units * (worker + 1) / count);
  });
  if (bad != 0)
    return error("weight ", source.name, ": ", bad.load(), " numbers are not finite; the file is damaged");
  return {};
}

}  // namespace

Result<Weights> load_weights(std::span<Program* const> programs, Team& team, const LoadOptions& options) {
  std::map<std::string, Source> sources;
  std::int64_t total = 0;
  for (Program* program : programs) {
    for (const Stored& stored : program->buffers) {
      if (stored.kind != StoredKind::Weight || sources.count(stored.name) != 0) continue;
      LUM_ASSIGN_OR_RETURN(Source source, describe(*program, stored, options.source));
      if (lies_dense(source) && !source.finite) {
        source.target = -1;
      } else {
        source.target = total;
        const ExprId size = region::byte_size(program->exprs, stored.dtype, stored.shape, stored.layout);
        total += (program->exprs.interval(size).hi + 63) / 64 * 64;
      }
      sources.emplace(stored.name, std::move(source));
    }
  }
  Weights weights;
  LUM_ASSIGN_OR_RETURN(weights.memory, Memory::allocate(total, true));
  std::int64_t done = 0;
  for (auto& [name, source] : sources) {
    if (source.target < 0) {
      weights.data[name] = source.bytes.data() + source.start / 8;
      continue;
    }
    std::byte* target = weights.memory.data() + source.target;
    LUM_RETURN_IF_ERROR(pack_one(source, target, team));
    weights.data[name] = target;
    done += count_of(source.shape) * region::stored_bits(source.dtype, source.layout) / 8;
    if (options.progress && !options.progress(done, total)) return error("loading was interrupted");
  }
  return weights;
}

}  // namespace luminal::runtime
