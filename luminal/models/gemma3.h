// SPDX-License-Identifier: MIT OR Apache-2.0
// Gemma 3, text: https://arxiv.org/abs/2503.19786. Every size is read from the file.
//
// The graph reads `T` tokens after `n_past` earlier ones, whose keys and values are states, and gives the logits of
// the last `n_out` (0 or 1) positions.
//   inputs   tokens i32 [T]
//   outputs  logits f32 [n_out, vocabulary]
//   states   k.<layer>, v.<layer> f32 [context, kv heads, head size]
#pragma once

#include "luminal/frontends/gguf/gguf_file.h"
#include "luminal/ir/graph.h"

namespace luminal::models {

struct DecoderSizes {
  std::int64_t context = 4096;  ///< most tokens that are kept
  std::int64_t chunk = 512;     ///< most tokens in one pass
};

/// Errors: a key or a tensor is missing or has another shape than the sizes ask for.
Result<ir::Graph> gemma3_graph(const gguf::GgufFile& file, const DecoderSizes& sizes);

}  // namespace luminal::models
