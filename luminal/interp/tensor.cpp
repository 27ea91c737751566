// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/interp/tensor.h"

#include <bit>
#include <cstring>

#include "luminal/base/cat.h"
#include "luminal/base/check.h"

namespace luminal::interp {
namespace {

void set_bits(Tensor& tensor, std::int64_t index, std::uint64_t bits) {
  const int size = element_bytes(tensor);
  std::memcpy(tensor.bytes.data() + index * size, &bits, static_cast<std::size_t>(size));
}

void check_count(const Tensor& tensor, std::size_t given) {
  LUM_CHECK(static_cast<std::int64_t>(given) == element_count(tensor.shape),
            describe(tensor.dtype, tensor.shape), ": ", given, " numbers given");
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

int element_bytes(const Tensor& tensor) {
  return tensor.wide && ir::is_float(tensor.dtype) ? 8 : ir::dtype_bytes(tensor.dtype);
}

Tensor zeros(ir::DType dtype, Extents shape, bool wide) {
  Tensor tensor{dtype, std::move(shape), wide, {}};
  const std::int64_t count = element_count(tensor.shape);
  // F8E8M0 has no zero: its code 0, the smallest scale, stands for it.
  tensor.bytes.resize(static_cast<std::size_t>(count * element_bytes(tensor)));
  return tensor;
}

Tensor make_tensor(ir::DType dtype, Extents shape, std::span<const double> numbers) {
  Tensor tensor = zeros(dtype, std::move(shape));
  check_count(tensor, numbers.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    set_bits(tensor, static_cast<std::int64_t>(k), ir::encode(dtype, numbers[k]));
  }
  return tensor;
}

Tensor make_tensor(ir::DType dtype, Extents shape, std::initializer_list<double> numbers) {
  return make_tensor(dtype, std::move(shape), std::span(numbers.begin(), numbers.size()));
}

Tensor make_integers(ir::DType dtype, Extents shape, std::span<const std::int64_t> numbers) {
  Tensor tensor = zeros(dtype, std::move(shape));
  check_count(tensor, numbers.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    set_bits(tensor, static_cast<std::int64_t>(k), ir::encode_integer(dtype, numbers[k]));
  }
  return tensor;
}

Tensor make_bits(ir::DType dtype, Extents shape, std::span<const std::uint64_t> bits) {
  Tensor tensor = zeros(dtype, std::move(shape));
  check_count(tensor, bits.size());
  for (std::size_t k = 0; k < bits.size(); ++k) {
    set_bits(tensor, static_cast<std::int64_t>(k), bits[k]);
  }
  return tensor;
}

std::uint64_t bits_at(const Tensor& tensor, std::int64_t index) {
  const int size = element_bytes(tensor);
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + index * size, static_cast<std::size_t>(size));
  return bits;
}

std::vector<double> numbers(const Tensor& tensor) {
  const bool doubles = tensor.wide && ir::is_float(tensor.dtype);
  std::vector<double> result(static_cast<std::size_t>(element_count(tensor.shape)));
  for (std::size_t k = 0; k < result.size(); ++k) {
    const std::uint64_t bits = bits_at(tensor, static_cast<std::int64_t>(k));
    result[k] = doubles ? std::bit_cast<double>(bits) : ir::decode(tensor.dtype, bits);
  }
  return result;
}

std::vector<std::int64_t> integers(const Tensor& tensor) {
  LUM_CHECK(!ir::is_float(tensor.dtype), describe(tensor.dtype, tensor.shape), " has no integers");
  std::vector<std::int64_t> result(static_cast<std::size_t>(element_count(tensor.shape)));
  for (std::size_t k = 0; k < result.size(); ++k) {
    result[k] = ir::decode_integer(tensor.dtype, bits_at(tensor, static_cast<std::int64_t>(k)));
  }
  return result;
}

std::string describe(ir::DType dtype, std::span<const std::int64_t> shape) {
  return cat(ir::dtype_name(dtype), "[", join(shape), "]");
}

}  // namespace luminal::interp
