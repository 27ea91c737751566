// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors as the interpreter takes and gives them: dense, row-major, every element alone in dtype_bytes bytes, little
// endian. In the F64 mode float tensors are `wide`: each element is a double, whatever the dtype says.
//
//   Tensor x = make_tensor(DType::BF16, {2, 3}, {1, 2, 3, 4, 5, 6});
//   numbers(x)[5] == 6.0;   bits_at(x, 0) == 0x3f80;
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "luminal/ir/dtype.h"

namespace luminal::interp {

using Extents = std::vector<std::int64_t>;

struct Tensor {
  ir::DType dtype = ir::DType::F32;
  Extents shape;
  bool wide = false;  ///< floats as doubles
  std::vector<std::uint8_t> bytes;
};

/// The product of the extents; 1 for a scalar.
std::int64_t element_count(std::span<const std::int64_t> shape);
/// Bytes from one element to the next.
int element_bytes(const Tensor& tensor);

/// All elements zero.
Tensor zeros(ir::DType dtype, Extents shape, bool wide = false);
/// Each number rounded or wrapped to the dtype as ir::encode does it.
Tensor make_tensor(ir::DType dtype, Extents shape, std::span<const double> numbers);
Tensor make_tensor(ir::DType dtype, Extents shape, std::initializer_list<double> numbers);
/// Integers and Bool, exact in 64 bits.
Tensor make_integers(ir::DType dtype, Extents shape, std::span<const std::int64_t> numbers);
/// From element bits.
Tensor make_bits(ir::DType dtype, Extents shape, std::span<const std::uint64_t> bits);

std::vector<double> numbers(const Tensor& tensor);
std::vector<std::int64_t> integers(const Tensor& tensor);
/// The element's bits; of its double in a wide tensor.
std::uint64_t bits_at(const Tensor& tensor, std::int64_t index);

/// "f32[2, 3]"
std::string describe(ir::DType dtype, std::span<const std::int64_t> shape);

}  // namespace luminal::interp
