// SPDX-License-Identifier: MIT OR Apache-2.0
// A tensor of a GGUF file as graph arithmetic: its blocks are weight Inputs that name bit fields of the file (codes,
// scales, high bits ..), its value is the sum and product of them that ggml's dequantiser computes, rounded alike.
// Nothing is dequantised here: the arithmetic is inlined where the value is used.
//
//   LUM_ASSIGN_OR_RETURN(ir::ValueId w, tensor_value(graph, file, "blk.0.attn_q.weight"));  // f32 [rows, columns]
#pragma once

#include "luminal/frontends/gguf/gguf_file.h"
#include "luminal/ir/graph.h"

#include <string>
#include <string_view>

namespace luminal::gguf {

/// The F32 values of a tensor, shape as in TensorInfo; integer types too. Inputs are named "tensor.field" and read the
/// buffer of the tensor's name. Inputs of a tensor used twice are shared. Errors: no such tensor, or a type that has
/// no arithmetic here (named, with those that have).
Result<ir::ValueId> tensor_value(ir::Graph& graph, const GgufFile& file, std::string_view name);

/// The types that tensor_value() knows, for messages and tests.
std::string supported_tensor_types();

}  // namespace luminal::gguf
