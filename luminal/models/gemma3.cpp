// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/models/gemma3.h"

#include "luminal/frontends/gguf/tensor_graph.h"

#include <cmath>
#include <limits>

namespace luminal::models {
namespace {

using gguf::GgufFile;
using ir::DType;
using ir::ExprId;
using ir::Graph;
using ir::Prim;
using ir::Shape;
using ir::ValueId;

constexpr double kLog2E = 1.4426950408889634;

struct Config {
  std::int64_t layers = 0, width = 0, heads = 0, kv_heads = 0, head = 0, hidden = 0, window = 0;
  double eps = 0, theta = 0, local_theta = 0, rope_factor = 1, scale = 0, softcap = 0;
  std::vector<bool> local;  // by layer: sees the window only
};

// A key of the architecture, or its default where the file leaves it out.
Result<double> optional_number(const GgufFile& file, const std::string& key, double otherwise) {
  if (!file.has(key)) return otherwise;
  return file.number(key);
}

Status read_local_layers(const GgufFile& file, Config& config) {
  const std::string key = "gemma3.attention.sliding_window_pattern";
  std::int64_t every = 6;
  if (file.has(key) && file.metadata().at(key).type == gguf::ValueType::Array) {
    LUM_ASSIGN_OR_RETURN(const auto pattern, file.integers(key));
    if (static_cast<std::int64_t>(pattern.size()) != config.layers)
      return error(file.name(), ": ", key, " has ", pattern.size(), " entries for ", config.layers, " layers");
    for (std::int64_t local : pattern) config.local.push_back(local != 0);
    return {};
  }
  if (file.has(key)) {
    LUM_ASSIGN_OR_RETURN(every, file.integer(key));
  }
  if (every < 1) return error(file.name(), ": ", key, " is ", every);
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    config.local.push_back(config.window > 0 && (layer + 1) % every != 0);
  return {};
}

Status read_rope(const GgufFile& file, Config& config) {
  LUM_ASSIGN_OR_RETURN(config.theta, optional_number(file, "gemma3.rope.freq_base", 1e6));
  LUM_ASSIGN_OR_RETURN(config.local_theta, optional_number(file, "gemma3.rope.freq_base_swa", 1e4));
  if (!file.has("gemma3.rope.scaling.type")) return {};
  LUM_ASSIGN_OR_RETURN(const std::string type, file.string("gemma3.rope.scaling.type"));
  if (type != "linear" && type != "none")
    return error(file.name(), ": rope scaling '", type, "'; linear and none are supported for gemma3");
  if (type == "linear") {
    LUM_ASSIGN_OR_RETURN(config.rope_factor, optional_number(file, "gemma3.rope.scaling.factor", 1));
  }
  return {};
}

Result<Config> read_config(const GgufFile& file) {
  Config config;
  const std::pair<const char*, std::int64_t*> sizes[] = {
      {"gemma3.block_count", &config.layers},
      {"gemma3.embedding_length", &config.width},
      {"gemma3.attention.head_count", &config.heads},
      {"gemma3.feed_forward_length", &config.hidden},
  };
  for (const auto& [key, size] : sizes) {
    LUM_ASSIGN_OR_RETURN(*size, file.integer(key));
    if (*size < 1 || *size > (1 << 24)) return error(file.name(), ": ", key, " is ", *size);
  }
  LUM_ASSIGN_OR_RETURN(const double kv_heads,
                       optional_number(file, "gemma3.attention.head_count_kv", static_cast<double>(config.heads)));
  config.kv_heads = static_cast<std::int64_t>(kv_heads);
  LUM_ASSIGN_OR_RETURN(const double head, optional_number(file, "gemma3.attention.key_length",
                                                          static_cast<double>(config.width / config.heads)));
  config.head = static_cast<std::int64_t>(head);
  if (config.kv_heads < 1 || config.heads % config.kv_heads != 0 || config.head < 2 || config.head % 2 != 0)
    return error(file.name(), ": ", config.heads, " heads, ", config.kv_heads, " for keys and values, of ",
                 config.head, " numbers: not a multiple or odd");
  LUM_ASSIGN_OR_RETURN(const double window, optional_number(file, "gemma3.attention.sliding_window", 0));
  config.window = static_cast<std::int64_t>(window);
  LUM_ASSIGN_OR_RETURN(config.eps, file.number("gemma3.attention.layer_norm_rms_epsilon"));
  LUM_ASSIGN_OR_RETURN(config.softcap, optional_number(file, "gemma3.final_logit_softcapping", 0));
  // The 27B model, known by its depth, divides by the width of a head's share instead of the head's size.
  const bool share = config.layers == 62;
  const double scale = 1 / std::sqrt(static_cast<double>(share ? config.width / config.heads : config.head));
  LUM_ASSIGN_OR_RETURN(config.scale, optional_number(file, "gemma3.attention.scale", scale));
  LUM_RETURN_IF_ERROR(read_rope(file, config));
  LUM_RETURN_IF_ERROR(read_local_layers(file, config));
  return config;
}

// cos and sin of the rotary angles, f32 [T, 2, head / 2]; the sine has the sign of its half.
struct Angles {
  ValueId cosine, sine;
};

class Builder {
 public:
  Builder(const GgufFile& file, Config config, const DecoderSizes& sizes)
      : file_(file), config_(std::move(config)), sizes_(sizes) {
    tokens_ = graph_.exprs.symbol("T", 1, sizes.chunk);
    past_ = graph_.exprs.symbol("n_past", 0, sizes.context - 1);
    outputs_ = graph_.exprs.symbol("n_out", 0, 1);
    total_ = graph_.exprs.min(graph_.exprs.add(past_, tokens_), size(sizes.context));
  }

  Result<Graph> run() {
    const ValueId ids = graph_.input("tokens", DType::I32, {tokens_});
    LUM_ASSIGN_OR_RETURN(const ValueId embedding, embedding_table());
    ValueId x = scaled(graph_.gather(embedding, 0, ids), std::sqrt(static_cast<float>(config_.width)));
    const Angles global = angles(config_.theta, config_.rope_factor);
    const Angles local = angles(config_.local_theta, 1);
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
      const bool is_local = config_.local[static_cast<std::size_t>(layer)];
      LUM_ASSIGN_OR_RETURN(x, attention_block(x, cat("blk.", layer, "."), layer, is_local, is_local ? local : global));
      LUM_ASSIGN_OR_RETURN(x, feed_forward_block(x, cat("blk.", layer, ".")));
    }
    LUM_RETURN_IF_ERROR(logits(x, embedding));
    return std::move(graph_);
  }

 private:
  ExprId size(std::int64_t value) { return graph_.exprs.constant(value); }
  ExprId coord(int axis) { return graph_.exprs.coord(axis); }
  const Shape& shape(ValueId x) const { return graph_[x].shape; }

  ValueId number(double value, const Shape& like) { return graph_.expand(graph_.scalar(DType::F32, value), like, {}); }
  ValueId scaled(ValueId x, double factor) { return graph_.map(Prim::Mul, {x, number(factor, shape(x))}); }
  ValueId plus(ValueId x, double term) { return graph_.map(Prim::Add, {x, number(term, shape(x))}); }
  ValueId add(ValueId x, ValueId y) { return graph_.map(Prim::Add, {x, y}); }
  ValueId mul(ValueId x, ValueId y) { return graph_.map(Prim::Mul, {x, y}); }
  ValueId one(Prim prim, ValueId x) { return graph_.map(prim, {x}); }

  Result<ValueId> weight(const std::string& name, std::vector<std::int64_t> wanted) {
    LUM_ASSIGN_OR_RETURN(const gguf::TensorInfo* tensor, file_.tensor(name));
    if (tensor->shape != wanted)
      return error(file_.name(), ": tensor ", name, " has shape ", extents(tensor->shape), ", ", extents(wanted),
                   " expected from the sizes in the file");
    return gguf::tensor_value(graph_, file_, name);
  }
  static std::string extents(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (std::int64_t extent : shape) text += cat(text.empty() ? "" : " x ", extent);
    return text;
  }

  Result<ValueId> embedding_table() {
    LUM_ASSIGN_OR_RETURN(const gguf::TensorInfo* tensor, file_.tensor("token_embd.weight"));
    if (tensor->shape.size() != 2) return error(file_.name(), ": token_embd.weight is not a matrix");
    vocabulary_ = tensor->shape[0];
    return weight("token_embd.weight", {vocabulary_, config_.width});
  }

  // y[rows, n] = sum_k x[rows, k] * w[n, k]
  Result<ValueId> linear(ValueId x, const std::string& name, std::int64_t out) {
    const Shape from = shape(x);
    LUM_ASSIGN_OR_RETURN(const ValueId w, weight(name, {out, *graph_.exprs.as_constant(from[1])}));
    return product(x, w);
  }
  ValueId product(ValueId x, ValueId w) {
    const Shape space = {shape(x)[0], shape(w)[0], shape(x)[1]};
    return graph_.reduce(Prim::SumReduce, mul(graph_.expand(x, space, {0, 2}), graph_.expand(w, space, {1, 2})), {2});
  }

  // x / sqrt(mean(x^2) + eps) * w over the axes from `first` on.
  ValueId normalized(ValueId x, int first, ValueId w) {
    const Shape space = shape(x);
    std::vector<int> kept, reduced;
    double count = 1;
    for (int axis = 0; axis < static_cast<int>(space.size()); ++axis) {
      (axis < first ? kept : reduced).push_back(axis);
      if (axis >= first) count *= static_cast<double>(*graph_.exprs.as_constant(space[static_cast<std::size_t>(axis)]));
    }
    const ValueId mean = scaled(graph_.reduce(Prim::SumReduce, mul(x, x), reduced), 1 / count);
    const ValueId inverse = one(Prim::Recip, one(Prim::Sqrt, plus(mean, config_.eps)));
    return mul(mul(x, graph_.expand(inverse, space, kept)), graph_.expand(w, space, reduced));
  }
  Result<ValueId> rms_norm(ValueId x, const std::string& name) {
    LUM_ASSIGN_OR_RETURN(const ValueId w, weight(name, {config_.width}));
    return normalized(x, 1, w);
  }

  // The angle of position n_past + t and pair i is (n_past + t) * theta^(-2i/head) / factor. cos a = 1 - 2 sin^2(a/2)
  // needs no angle beyond a.
  Angles angles(double theta, double factor) {
    const std::int64_t half = config_.head / 2;
    std::vector<std::uint64_t> bits;
    for (std::int64_t pair = 0; pair < half; ++pair) {
      const double exponent = static_cast<double>(2 * pair) / static_cast<double>(config_.head);
      bits.push_back(ir::encode(DType::F32, 1.0 / std::pow(theta, exponent) / factor));
    }
    const Shape plane = {tokens_, size(half)};
    const ValueId position = graph_.iota(DType::F32, plane, graph_.exprs.add(past_, coord(0)));
    const ValueId angle = mul(position, graph_.expand(graph_.constant(DType::F32, {half}, bits), plane, {1}));
    const ValueId sine_half = one(Prim::Sin, scaled(angle, 0.5));
    const ValueId cosine = plus(scaled(mul(sine_half, sine_half), -2), 1);
    const ValueId sine = one(Prim::Sin, angle);
    const Shape space = {tokens_, size(2), size(half)};
    const ValueId sign = graph_.iota(DType::F32, space, graph_.exprs.sub(graph_.exprs.mul(coord(1), size(2)), size(1)));
    return {graph_.expand(cosine, space, {0, 2}), mul(graph_.expand(sine, space, {0, 2}), sign)};
  }

  // [T, heads * head] as [T, heads, 2, head / 2]
  ValueId split_heads(ValueId x, std::int64_t heads) {
    const Shape space = {tokens_, size(heads), size(2), size(config_.head / 2)};
    ir::Exprs& e = graph_.exprs;
    const ExprId column = e.add(e.add(e.mul(coord(1), size(config_.head)), e.mul(coord(2), size(config_.head / 2))), coord(3));
    return graph_.view(x, space, {coord(0), column});
  }
  ValueId rotated(ValueId x, const Angles& angles) {
    const Shape space = shape(x);
    const ExprId other = graph_.exprs.sub(size(1), coord(2));
    const ValueId partner = graph_.view(x, space, {coord(0), coord(1), other, coord(3)});
    return add(mul(x, graph_.expand(angles.cosine, space, {0, 2, 3})),
               mul(partner, graph_.expand(angles.sine, space, {0, 2, 3})));
  }
  Result<ValueId> rotated_heads(ValueId x, const std::string& prefix, const char* which, std::int64_t heads,
                                const Angles& angles) {
    LUM_ASSIGN_OR_RETURN(const ValueId flat, linear(x, cat(prefix, "attn_", which, ".weight"), heads * config_.head));
    LUM_ASSIGN_OR_RETURN(const ValueId w, weight(cat(prefix, "attn_", which, "_norm.weight"), {config_.head}));
    const ExprId column = graph_.exprs.add(graph_.exprs.mul(coord(0), size(config_.head / 2)), coord(1));
    const ValueId halves = graph_.view(w, {size(2), size(config_.head / 2)}, {column});
    return rotated(normalized(split_heads(flat, heads), 2, halves), angles);
  }

  // The new rows x [T, kv heads, head] in the state of that name, which they stay in.
  ValueId remembered(const std::string& name, ValueId x) {
    const Shape space = {size(sizes_.context), size(config_.kv_heads), size(config_.head)};
    const ValueId state = graph_.state(name, DType::F32, space);
    const ValueId rows = graph_.iota(DType::I32, {tokens_}, graph_.exprs.add(past_, coord(0)));
    const ValueId next = graph_.scatter(state, 0, rows, x, ir::ScatterMode::Set);
    graph_.output(name, next, state);
    return next;
  }

  // Which positions a pass reads: [first, first + count).
  struct Span {
    ExprId first, count;
  };
  Span span(bool local) {
    ir::Exprs& e = graph_.exprs;
    const ExprId first = local ? e.max(e.add(past_, size(1 - config_.window)), size(0)) : size(0);
    return {first, e.sub(total_, first)};
  }

  // softmax(q k^T * scale, masked) v for q [T, heads, 2, head/2]: f32 [T, heads * head]
  ValueId attention(ValueId q, ValueId keys, ValueId values, bool local) {
    ir::Exprs& e = graph_.exprs;
    const std::int64_t group = config_.heads / config_.kv_heads, half = config_.head / 2;
    const Span seen = span(local);
    const ExprId kv = size(config_.kv_heads), groups = size(group);
    const ExprId head_index = e.add(e.mul(coord(0), groups), coord(1));
    const ExprId position = e.add(seen.first, coord(3));
    const Shape dots = {kv, groups, tokens_, seen.count, size(2), size(half)};
    const ValueId qx = graph_.view(q, dots, {coord(2), head_index, coord(4), coord(5)});
    const ValueId kx = graph_.view(keys, dots, {position, coord(0), e.add(e.mul(coord(4), size(half)), coord(5))});
    const ValueId scores = scaled(graph_.reduce(Prim::SumReduce, mul(qx, kx), {4, 5}), config_.scale);
    const Shape plane = shape(scores);
    const ValueId masked = graph_.map(Prim::Select, {visible(plane, seen.first, local), scores,
                                                     number(-std::numeric_limits<double>::infinity(), plane)});
    const ValueId top = one(Prim::Detach, graph_.reduce(Prim::MaxReduce, masked, {3}));
    const ValueId shifted = add(masked, scaled(graph_.expand(top, plane, {0, 1, 2}), -1));
    const ValueId share = one(Prim::Exp2, scaled(shifted, kLog2E));
    const ValueId total = graph_.reduce(Prim::SumReduce, share, {3});
    const Shape mixing = {kv, groups, tokens_, size(config_.head), seen.count};
    const ValueId sx = graph_.expand(share, mixing, {0, 1, 2, 4});
    const ValueId vx = graph_.view(values, mixing, {e.add(seen.first, coord(4)), coord(0), coord(3)});
    const ValueId sum = graph_.reduce(Prim::SumReduce, mul(sx, vx), {4});
    const ValueId mixed = mul(sum, graph_.expand(one(Prim::Recip, total), shape(sum), {0, 1, 2}));
    const ExprId head = e.floor_div(coord(1), size(config_.head));
    return graph_.view(mixed, {tokens_, size(config_.heads * config_.head)},
                       {e.floor_div(head, groups), e.mod(head, groups), coord(0), e.mod(coord(1), size(config_.head))});
  }

  // Key position <= query position, and within the window. plane: [kv, group, T, positions]
  ValueId visible(const Shape& plane, ExprId first, bool local) {
    ir::Exprs& e = graph_.exprs;
    const ExprId distance = e.sub(e.add(past_, coord(2)), e.add(first, coord(3)));
    const ValueId back = graph_.iota(DType::I32, plane, distance);
    const auto integer = [&](std::int64_t value) {
      return graph_.expand(graph_.scalar(DType::I32, static_cast<double>(value)), plane, {});
    };
    const ValueId causal = graph_.map(Prim::LessThan, {integer(-1), back});
    if (!local) return causal;
    return graph_.map(Prim::BitAnd, {causal, graph_.map(Prim::LessThan, {back, integer(config_.window)})});
  }

  Result<ValueId> attention_block(ValueId x, const std::string& prefix, std::int64_t layer, bool local,
                                  const Angles& angles) {
    LUM_ASSIGN_OR_RETURN(const ValueId h, rms_norm(x, prefix + "attn_norm.weight"));
    LUM_ASSIGN_OR_RETURN(const ValueId q, rotated_heads(h, prefix, "q", config_.heads, angles));
    LUM_ASSIGN_OR_RETURN(const ValueId k, rotated_heads(h, prefix, "k", config_.kv_heads, angles));
    LUM_ASSIGN_OR_RETURN(const ValueId v,
                         linear(h, prefix + "attn_v.weight", config_.kv_heads * config_.head));
    const Shape rows = {tokens_, size(config_.kv_heads), size(config_.head)};
    ir::Exprs& e = graph_.exprs;
    const ValueId k_rows = graph_.view(k, rows, {coord(0), coord(1), e.floor_div(coord(2), size(config_.head / 2)),
                                                 e.mod(coord(2), size(config_.head / 2))});
    const ValueId v_rows = graph_.view(v, rows, {coord(0), e.add(e.mul(coord(1), size(config_.head)), coord(2))});
    const ValueId mixed = attention(q, remembered(cat("k.", layer), k_rows), remembered(cat("v.", layer), v_rows), local);
    LUM_ASSIGN_OR_RETURN(const ValueId out, linear(mixed, prefix + "attn_output.weight", config_.width));
    LUM_ASSIGN_OR_RETURN(const ValueId normed, rms_norm(out, prefix + "post_attention_norm.weight"));
    return add(x, normed);
  }

  // GELU, tanh form: x * sigmoid(2 u), u = sqrt(2/pi) * (x + 0.044715 x^3)
  ValueId gelu(ValueId x) {
    const ValueId cubic = plus(scaled(mul(x, x), 0.044715), 1);
    const ValueId exponent = scaled(mul(x, cubic), -2 * std::sqrt(2 / M_PI) * kLog2E);
    return mul(x, one(Prim::Recip, plus(one(Prim::Exp2, exponent), 1)));
  }

  Result<ValueId> feed_forward_block(ValueId x, const std::string& prefix) {
    LUM_ASSIGN_OR_RETURN(const ValueId h, rms_norm(x, prefix + "ffn_norm.weight"));
    LUM_ASSIGN_OR_RETURN(const ValueId gate, linear(h, prefix + "ffn_gate.weight", config_.hidden));
    LUM_ASSIGN_OR_RETURN(const ValueId up, linear(h, prefix + "ffn_up.weight", config_.hidden));
    LUM_ASSIGN_OR_RETURN(const ValueId down,
                         linear(mul(gelu(gate), up), prefix + "ffn_down.weight", config_.width));
    LUM_ASSIGN_OR_RETURN(const ValueId normed, rms_norm(down, prefix + "post_ffw_norm.weight"));
    return add(x, normed);
  }

  Status logits(ValueId x, ValueId embedding) {
    ir::Exprs& e = graph_.exprs;
    const ExprId row = e.add(e.sub(tokens_, outputs_), coord(0));
    const ValueId last = graph_.view(x, {outputs_, size(config_.width)}, {row, coord(1)});
    LUM_ASSIGN_OR_RETURN(const ValueId h, rms_norm(last, "output_norm.weight"));
    ValueId head = embedding;  // tied, where the file has no matrix for it
    if (file_.find_tensor("output.weight") != nullptr) {
      LUM_ASSIGN_OR_RETURN(head, weight("output.weight", {vocabulary_, config_.width}));
    }
    ValueId out = product(h, head);
    if (config_.softcap > 0) {  // cap * tanh(out / cap), tanh y = 1 - 2 / (1 + exp(2 y))
      const ValueId grown = one(Prim::Exp2, scaled(out, 2 * kLog2E / config_.softcap));
      out = scaled(plus(scaled(one(Prim::Recip, plus(grown, 1)), -2), 1), config_.softcap);
    }
    graph_.output("logits", out);
    return {};
  }

  const GgufFile& file_;
  const Config config_;
  const DecoderSizes sizes_;
  Graph graph_;
  ExprId tokens_, past_, outputs_, total_;
  std::int64_t vocabulary_ = 0;
};

}  // namespace

Result<Graph> gemma3_graph(const GgufFile& file, const DecoderSizes& sizes) {
  LUM_ASSIGN_OR_RETURN(Config config, read_config(file));
  return Builder(file, std::move(config), sizes).run();
}

}  // namespace luminal::models
