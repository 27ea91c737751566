// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/frontends/gguf/tensor_graph.h"

#include <algorithm>
#include <cmath>

namespace luminal::gguf {
namespace {

using ir::DType;
using ir::ExprId;
using ir::Graph;
using ir::Prim;
using ir::Shape;
using ir::ValueId;

// The elements of a block as an index space of its own, chosen so that the place of every field is linear in it.
using Axes = std::vector<std::int64_t>;
using Steps = std::vector<std::int64_t>;  // bits from one index to the next, an axis each

class Block {
 public:
  Block(Graph& graph, const TensorInfo& tensor, Axes axes)
      : graph_(graph), tensor_(tensor), axes_(std::move(axes)) {
    lead_ = tensor.shape;
    std::int64_t columns = lead_.empty() ? 1 : lead_.back();
    if (!lead_.empty()) lead_.pop_back();
    lead_.push_back(columns / tensor.type->block);
    for (std::int64_t extent : lead_) space_.push_back(graph_.exprs.constant(extent));
    for (std::int64_t extent : axes_) space_.push_back(graph_.exprs.constant(extent));
  }

  // A field of the block: at bit `bit` for index 0, `steps` further for each axis. It is one Input over the axes on
  // which its place depends, expanded to the whole space.
  ValueId field(const char* name, DType dtype, std::int64_t bit, Steps steps = {}) {
    steps.resize(axes_.size(), 0);
    ir::Exprs& exprs = graph_.exprs;
    ExprId block = exprs.constant(0);
    Shape shape;
    std::vector<int> where;
    for (std::size_t k = 0; k < lead_.size(); ++k) {
      block = exprs.add(exprs.mul(block, space_[k]), exprs.coord(static_cast<int>(k)));
      shape.push_back(space_[k]);
      where.push_back(static_cast<int>(k));
    }
    ExprId offset = exprs.add(exprs.mul(block, exprs.constant(8 * tensor_.type->block_bytes)), exprs.constant(bit));
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      if (steps[k] == 0) continue;
      const ExprId index = exprs.coord(static_cast<int>(shape.size()));
      offset = exprs.add(offset, exprs.mul(index, exprs.constant(steps[k])));
      shape.push_back(space_[lead_.size() + k]);
      where.push_back(static_cast<int>(lead_.size() + k));
    }
    const std::string input = cat(tensor_.name, ".", name);
    const auto known = graph_.find_input(input);
    const ValueId value =
        known.ok() ? *known : graph_.weight(input, dtype, shape, ir::Storage{tensor_.name, offset});
    return graph_.expand(value, space_, where);
  }

  ValueId i32(ValueId x) { return graph_.cast(x, DType::I32); }
  ValueId f32(ValueId x) { return graph_.cast(x, DType::F32); }
  ValueId number(DType dtype, double value) { return graph_.expand(graph_.scalar(dtype, value), space_, {}); }
  ValueId add(ValueId x, ValueId y) { return graph_.map(Prim::Add, {x, y}); }
  ValueId mul(ValueId x, ValueId y) { return graph_.map(Prim::Mul, {x, y}); }
  ValueId plus(ValueId x, double value) { return add(x, number(graph_[x].dtype, value)); }
  ValueId times(ValueId x, double value) { return mul(x, number(graph_[x].dtype, value)); }
  // low | high << shift, as integers
  ValueId joined(ValueId low, ValueId high, int shift) { return add(i32(low), times(i32(high), 1 << shift)); }
  // x - y
  ValueId minus(ValueId x, ValueId y) { return add(x, times(y, -1)); }
  ValueId scale(std::int64_t byte) { return f32(field("d", DType::F16, 8 * byte)); }
  // table[index]
  ValueId lookup(DType dtype, const std::vector<double>& table, ValueId index) {
    std::vector<std::uint64_t> bits;
    for (double entry : table) bits.push_back(ir::encode(dtype, entry));
    const ValueId entries = graph_.constant(dtype, {static_cast<std::int64_t>(table.size())}, std::move(bits));
    return graph_.gather(entries, 0, i32(index));
  }

  // The space in row-major order is the row.
  ValueId merged(ValueId x) {
    ir::Exprs& exprs = graph_.exprs;
    Shape shape;
    std::vector<ExprId> map;
    for (std::size_t k = 0; k + 1 < lead_.size(); ++k) {
      shape.push_back(space_[k]);
      map.push_back(exprs.coord(static_cast<int>(k)));
    }
    const ExprId column = exprs.coord(static_cast<int>(shape.size()));
    if (!tensor_.shape.empty()) shape.push_back(exprs.constant(tensor_.shape.back()));
    std::int64_t inner = tensor_.type->block;
    const auto ranges = ir::coord_ranges(exprs, shape);
    const ExprId at = tensor_.shape.empty() ? exprs.constant(0) : column;
    map.push_back(exprs.simplify(exprs.floor_div(at, exprs.constant(inner)), ranges));
    for (std::int64_t extent : axes_) {
      inner /= extent;
      const ExprId part = exprs.floor_div(at, exprs.constant(inner));
      map.push_back(exprs.simplify(exprs.mod(part, exprs.constant(extent)), ranges));
    }
    return graph_.view(x, shape, map);
  }

 private:
  Graph& graph_;
  const TensorInfo& tensor_;
  Axes axes_;
  Axes lead_;
  Shape space_;
};

template <DType dtype>
ValueId plain(Block& b) {
  return b.f32(b.field("values", dtype, 0));
}

// 4-bit codes: the low nibbles are the first half of the block, the high ones the second. Axes [2, 16].
ValueId nibbles(Block& b, std::int64_t byte, DType dtype = DType::U4) {
  return b.field("codes", dtype, 8 * byte, {4, 8});
}
ValueId five_bits(Block& b, std::int64_t high_byte, std::int64_t byte) {
  return b.joined(nibbles(b, byte), b.field("high", DType::U1, 8 * high_byte, {16, 1}), 4);
}
ValueId minimum(Block& b) { return b.f32(b.field("m", DType::F16, 16)); }

ValueId q4_0(Block& b) { return b.mul(b.scale(0), b.f32(b.plus(b.i32(nibbles(b, 2)), -8))); }
ValueId q4_1(Block& b) { return b.add(b.mul(b.scale(0), b.f32(b.i32(nibbles(b, 4)))), minimum(b)); }
ValueId q5_0(Block& b) { return b.mul(b.scale(0), b.f32(b.plus(five_bits(b, 2, 6), -16))); }
ValueId q5_1(Block& b) { return b.add(b.mul(b.scale(0), b.f32(five_bits(b, 4, 8))), minimum(b)); }
ValueId q8_0(Block& b) { return b.mul(b.scale(0), b.f32(b.field("codes", DType::I8, 16, {8}))); }
ValueId q8_1(Block& b) { return b.mul(b.scale(0), b.f32(b.field("codes", DType::I8, 32, {8}))); }
ValueId q8_k(Block& b) {
  return b.mul(b.field("d", DType::F32, 0), b.f32(b.field("codes", DType::I8, 32, {8})));
}
ValueId q1_0(Block& b) {  // d or -d
  return b.mul(b.scale(0), b.f32(b.plus(b.times(b.i32(b.field("codes", DType::U1, 16, {1})), 2), -1)));
}
ValueId q2_0(Block& b) {
  return b.mul(b.scale(0), b.f32(b.plus(b.i32(b.field("codes", DType::U2, 16, {2})), -1)));
}

// K-quants. Axes of Q2_K and Q3_K: [half 2, shift 4, scale 2, 16].
ValueId q2_k(Block& b) {
  const ValueId scale = b.mul(b.f32(b.field("d", DType::F16, 640)),
                              b.f32(b.i32(b.field("scales", DType::U4, 0, {64, 16, 8, 0}))));
  const ValueId low = b.mul(b.f32(b.field("dmin", DType::F16, 656)),
                            b.f32(b.i32(b.field("mins", DType::U4, 4, {64, 16, 8, 0}))));
  const ValueId codes = b.field("codes", DType::U2, 128, {256, 2, 128, 8});
  return b.minus(b.mul(scale, b.f32(b.i32(codes))), low);
}

// The shift axis as [2, 2]: axes [half 2, 2, 2, scale 2, 16].
ValueId q3_k(Block& b) {
  const ValueId low = b.field("scales", DType::U4, 768, {4, 32, 16, 8, 0});
  const ValueId high = b.field("scales_high", DType::U2, 768 + 64, {4, 2, 16, 8, 0});
  const ValueId scale = b.mul(b.f32(b.field("d", DType::F16, 864)), b.f32(b.plus(b.joined(low, high, 4), -32)));
  const ValueId codes = b.field("codes", DType::U2, 256, {256, 4, 2, 128, 8});
  const ValueId top = b.field("high", DType::U1, 0, {4, 2, 1, 128, 8});
  return b.mul(scale, b.f32(b.plus(b.joined(codes, top, 2), -4)));
}

// Scale and minimum of 6 bits for each of 8 parts; part 4q + 2p + h on axes [q 2, p 2, h 2, 32]. Bytes S[0..11]:
// the first four scales in S[0..3], minima in S[4..7], the rest in S[8..11] with their high bits atop of the first.
struct PartScales {
  ValueId scale, low;
};
PartScales part_scales(Block& b) {
  constexpr std::int64_t kFirst = 32;
  const ValueId scale = b.joined(b.field("scales", DType::U4, kFirst, {64, 16, 8, 0}),
                                 b.field("scales_high", DType::U2, kFirst + 4, {2, 16, 8, 0}), 4);
  const ValueId low = b.joined(b.field("mins", DType::U4, kFirst + 32, {36, 16, 8, 0}),
                               b.field("mins_high", DType::U2, kFirst + 36, {2, 16, 8, 0}), 4);
  return {b.mul(b.scale(0), b.f32(scale)), b.mul(b.f32(b.field("dmin", DType::F16, 16)), b.f32(low))};
}
ValueId q4_k(Block& b) {
  const PartScales part = part_scales(b);
  const ValueId codes = b.field("codes", DType::U4, 128, {512, 256, 4, 8});
  return b.minus(b.mul(part.scale, b.f32(b.i32(codes))), part.low);
}
ValueId q5_k(Block& b) {
  const PartScales part = part_scales(b);
  const ValueId codes = b.field("codes", DType::U4, 384, {512, 256, 4, 8});
  const ValueId top = b.field("high", DType::U1, 128, {4, 2, 1, 8});
  return b.minus(b.mul(part.scale, b.f32(b.joined(codes, top, 4))), part.low);
}

// Axes [half 2, nibble 2, 32s 2, scale 2, 16].
ValueId q6_k(Block& b) {
  const ValueId codes = b.field("codes", DType::U4, 0, {512, 4, 256, 128, 8});
  const ValueId top = b.field("high", DType::U2, 1024, {256, 4, 2, 128, 8});
  const ValueId scale = b.mul(b.f32(b.field("d", DType::F16, 1664)),
                              b.f32(b.field("scales", DType::I8, 1536, {64, 32, 16, 8, 0})));
  return b.mul(scale, b.f32(b.plus(b.joined(codes, top, 4), -32)));
}

const std::vector<double>& iq4_table() {
  static const std::vector<double> kTable = {-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};
  return kTable;
}
ValueId iq4_nl(Block& b) { return b.mul(b.scale(0), b.lookup(DType::F32, iq4_table(), nibbles(b, 2))); }
// Axes [part 8, 2, 16].
ValueId iq4_xs(Block& b) {
  const ValueId part = b.plus(b.joined(b.field("scales", DType::U4, 32, {4, 0, 0}),
                                       b.field("scales_high", DType::U2, 16, {2, 0, 0}), 4), -32);
  const ValueId codes = b.field("codes", DType::U4, 64, {128, 4, 8});
  return b.mul(b.mul(b.scale(0), b.f32(part)), b.lookup(DType::F32, iq4_table(), codes));
}

// Scale 2^(e-127), codes E2M1: both are dtypes. ggml has no negative zero: adding 0 takes its sign away.
ValueId mxfp4(Block& b) {
  const ValueId codes = b.plus(b.f32(nibbles(b, 1, DType::F4E2M1)), 0);
  return b.mul(b.f32(b.field("d", DType::F8E8M0, 0)), codes);
}
// Axes [part 4, 2, 8]. The scale byte is E4M3 without sign in which 0x7f is 0.
ValueId nvfp4(Block& b) {
  std::vector<double> scales;
  for (int code = 0; code < 256; ++code) {
    const int exponent = (code >> 3) & 15, mantissa = code & 7;
    const double scale = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    scales.push_back(code == 0x7f ? 0.0 : scale);
  }
  const ValueId scale = b.lookup(DType::F32, scales, b.field("d", DType::U8, 0, {8, 0, 0}));
  return b.mul(scale, b.plus(b.f32(b.field("codes", DType::F4E2M1, 32, {64, 4, 8})), 0));
}

// Axes [half 2, shift 4, 32].
ValueId tq2_0(Block& b) {
  const ValueId codes = b.plus(b.i32(b.field("codes", DType::U2, 0, {256, 2, 8})), -1);
  return b.mul(b.f32(codes), b.f32(b.field("d", DType::F16, 512)));
}

struct Row {
  std::string_view name;
  Axes axes;
  ValueId (*value)(Block& block);
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"F32", {}, plain<DType::F32>},   {"F16", {}, plain<DType::F16>},  {"BF16", {}, plain<DType::BF16>},
      {"F64", {}, plain<DType::F64>},   {"I8", {}, plain<DType::I8>},    {"I16", {}, plain<DType::I16>},
      {"I32", {}, plain<DType::I32>},   {"I64", {}, plain<DType::I64>},  {"Q4_0", {2, 16}, q4_0},
      {"Q4_1", {2, 16}, q4_1},          {"Q5_0", {2, 16}, q5_0},         {"Q5_1", {2, 16}, q5_1},
      {"Q8_0", {32}, q8_0},             {"Q8_1", {32}, q8_1},            {"Q2_K", {2, 4, 2, 16}, q2_k},
      {"Q3_K", {2, 2, 2, 2, 16}, q3_k}, {"Q4_K", {2, 2, 2, 32}, q4_k},   {"Q5_K", {2, 2, 2, 32}, q5_k},
      {"Q6_K", {2, 2, 2, 2, 16}, q6_k}, {"Q8_K", {256}, q8_k},           {"IQ4_NL", {2, 16}, iq4_nl},
      {"IQ4_XS", {8, 2, 16}, iq4_xs},   {"TQ2_0", {2, 4, 32}, tq2_0},    {"MXFP4", {2, 16}, mxfp4},
      {"NVFP4", {4, 2, 8}, nvfp4},      {"Q1_0", {128}, q1_0},           {"Q2_0", {64}, q2_0},
  };
  return kRows;
}

}  // namespace

std::string supported_tensor_types() {
  std::string names;
  for (const Row& row : rows()) names += cat(names.empty() ? "" : ", ", row.name);
  return names;
}

Result<ValueId> tensor_value(Graph& graph, const GgufFile& file, std::string_view name) {
  LUM_ASSIGN_OR_RETURN(const TensorInfo* tensor, file.tensor(name));
  for (const Row& row : rows()) {
    if (row.name != tensor->type->name) continue;
    Block block(graph, *tensor, row.axes);
    return block.merged(row.value(block));
  }
  return error(file.name(), ": tensor ", name, " has type ", tensor->type->name, "; supported are ",
               supported_tensor_types());
}

}  // namespace luminal::gguf
