// SPDX-License-Identifier: MIT OR Apache-2.0
// The tensor types of GGUF files: numbers and sizes of the ggml types. A type is a block of elements along a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::gguf {

struct TensorType {
  std::uint32_t id;          ///< number in files
  std::string_view name;     ///< as in the field: "Q4_K"
  std::int64_t block;        ///< elements in a block
  std::int64_t block_bytes;
};

/// The row of that number, or null for numbers that are retired or not known.
const TensorType* tensor_type(std::uint32_t id);
const TensorType* tensor_type(std::string_view name);

}  // namespace luminal::gguf
