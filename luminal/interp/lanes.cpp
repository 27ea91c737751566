// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/interp/lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "luminal/base/check.h"

namespace luminal::interp {
namespace {

using ir::DType;

/// Calls use(T{}) with the type whose plain conversion to a lane is the number, or nothing.
template <class Use>
bool with_native_type(const Source& source, Use use) {
  if (source.wide && ir::is_float(source.dtype)) return use(double{}), true;
  switch (source.dtype) {
    case DType::F64: return use(double{}), true;
    case DType::F32: return use(float{}), true;
    case DType::I64:
    case DType::U64: return use(std::int64_t{}), true;
    case DType::I32: return use(std::int32_t{}), true;
    case DType::I16: return use(std::int16_t{}), true;
    case DType::I8: return use(std::int8_t{}), true;
    case DType::U32: return use(std::uint32_t{}), true;
    case DType::U16: return use(std::uint16_t{}), true;
    case DType::U8: return use(std::uint8_t{}), true;
    default: return false;
  }
}

template <class T>
T read(const std::uint8_t* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T, class Lane>
void copy_native(const Source& source, const Offsets& offsets, std::size_t count, Lane* y) {
  if (offsets.list) {
    for (std::size_t k = 0; k < count; ++k) {
      y[k] = static_cast<Lane>(read<T>(source.data, offsets.list[k]));
    }
  } else if (offsets.stride == 0) {
    std::fill_n(y, count, static_cast<Lane>(read<T>(source.data, offsets.base)));
  } else if (offsets.stride == 1) {
    const std::uint8_t* from = source.data + offsets.base * static_cast<std::int64_t>(sizeof(T));
    for (std::size_t k = 0; k < count; ++k) {
      y[k] = static_cast<Lane>(read<T>(from, static_cast<std::int64_t>(k)));
    }
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      y[k] = static_cast<Lane>(read<T>(source.data, offsets[k]));
    }
  }
}

void set_lane(DType dtype, std::uint64_t bits, std::size_t k, Lanes& y) {
  switch (y.kind) {
    case LaneKind::F64: y.f64[k] = ir::decode(dtype, bits); break;
    case LaneKind::F32:
      // Without going through a double, which would quieten a NaN.
      y.f32[k] = dtype == DType::F32 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                     : static_cast<float>(ir::decode(dtype, bits));
      break;
    case LaneKind::Int: y.i64[k] = ir::decode_integer(dtype, bits); break;
  }
}

std::uint64_t lane_bits(const Lanes& x, DType dtype, std::size_t k) {
  switch (x.kind) {
    case LaneKind::F64: return ir::encode(dtype, x.f64[k]);
    case LaneKind::F32:
      return dtype == DType::F32 ? std::bit_cast<std::uint32_t>(x.f32[k])
                                 : ir::encode(dtype, static_cast<double>(x.f32[k]));
    case LaneKind::Int: return ir::encode_integer(dtype, x.i64[k]);
  }
  return 0;
}

/// The field of `width` bits that starts at a bit of little-endian data.
std::uint64_t read_field(const std::uint8_t* data, std::int64_t bit, int width) {
  const std::uint8_t* from = data + (bit >> 3);
  const int skip = static_cast<int>(bit & 7);
  const int bytes = (skip + width + 7) / 8;
  std::uint64_t value = 0;
  for (int k = 0; k < std::min(bytes, 8); ++k) {
    value |= static_cast<std::uint64_t>(from[k]) << (8 * k);
  }
  value >>= skip;
  if (bytes == 9) value |= static_cast<std::uint64_t>(from[8]) << (64 - skip);
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

double float_lane(const Lanes& x, std::size_t k) {
  return x.kind == LaneKind::F64 ? x.f64[k] : static_cast<double>(x.f32[k]);
}

/// An integer as a float of the dtype: rounded to F32 first when the type is narrower, as narrow
/// floats are computed in f32.
void integer_to_float(std::int64_t number, bool is_unsigned, DType to, std::size_t k, Lanes& y) {
  const auto word = static_cast<std::uint64_t>(number);
  if (y.kind == LaneKind::F64) {
    y.f64[k] = is_unsigned ? static_cast<double>(word) : static_cast<double>(number);
    return;
  }
  const float nearest = is_unsigned ? static_cast<float>(word) : static_cast<float>(number);
  y.f32[k] = to == DType::F32 ? nearest
                              : static_cast<float>(ir::decode(to, ir::encode(to, nearest)));
}

}  // namespace

LaneKind lane_kind(DType dtype, Mode mode) {
  if (!ir::is_float(dtype)) return LaneKind::Int;
  return mode == Mode::F64 || dtype == DType::F64 ? LaneKind::F64 : LaneKind::F32;
}

void load(const Source& source, const Offsets& offsets, std::size_t count, Lanes& y) {
  if (count == 0) return;
  const bool native = with_native_type(source, [&](auto sample) {
    using T = decltype(sample);
    switch (y.kind) {
      case LaneKind::F64: copy_native<T>(source, offsets, count, y.f64); break;
      case LaneKind::F32: copy_native<T>(source, offsets, count, y.f32); break;
      case LaneKind::Int: copy_native<T>(source, offsets, count, y.i64); break;
    }
  });
  if (native) return;
  const bool two_bytes = ir::dtype_bytes(source.dtype) == 2;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t bits = two_bytes ? read<std::uint16_t>(source.data, offsets[k])
                                         : read<std::uint8_t>(source.data, offsets[k]);
    set_lane(source.dtype, bits, k, y);
  }
}

void load_fields(const Source& source, const Offsets& bit_offsets, std::size_t count, Lanes& y) {
  const int width = ir::dtype_bits(source.dtype);
  for (std::size_t k = 0; k < count; ++k) {
    set_lane(source.dtype, read_field(source.data, bit_offsets[k], width), k, y);
  }
}

void store(const Lanes& x, std::size_t count, DType dtype, bool wide, std::uint8_t* data,
           std::int64_t begin) {
  const bool doubles = wide && ir::is_float(dtype);
  const auto size = static_cast<std::size_t>(doubles ? 8 : ir::dtype_bytes(dtype));
  std::uint8_t* to = data + begin * static_cast<std::int64_t>(size);
  if (doubles || (dtype == DType::F64 && x.kind == LaneKind::F64)) {
    LUM_CHECK(x.kind == LaneKind::F64);
    std::memcpy(to, x.f64, count * size);
  } else if (dtype == DType::F32 && x.kind == LaneKind::F32) {
    std::memcpy(to, x.f32, count * size);
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint64_t bits = lane_bits(x, dtype, k);
      std::memcpy(to + k * size, &bits, size);
    }
  }
}

void fill(DType dtype, std::uint64_t bits, Lanes& y) {
  for (std::size_t k = 0; k < kLanes; ++k) set_lane(dtype, bits, k, y);
}

void round_to(DType dtype, std::size_t count, Lanes& x) {
  if (x.kind != LaneKind::F32 || dtype == DType::F32) return;
  for (std::size_t k = 0; k < count; ++k) {
    x.f32[k] = static_cast<float>(ir::decode(dtype, ir::encode(dtype, x.f32[k])));
  }
}

std::int64_t float_to_integer(DType to, double number) {
  const ir::DTypeInfo& info = ir::dtype_info(to);
  if (info.kind == ir::NumberKind::Bool) return number != 0 ? 1 : 0;
  if (std::isnan(number)) return 0;
  const bool is_signed = info.kind == ir::NumberKind::Signed;
  // 2^bits or 2^(bits-1) is the first number above the type, and exact in a double.
  const double above = std::ldexp(1.0, is_signed ? info.bits - 1 : info.bits);
  const std::uint64_t all = info.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << info.bits) - 1;
  if (number >= above) return static_cast<std::int64_t>(is_signed ? all >> 1 : all);
  if (!is_signed) return number <= 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(number));
  if (number <= -above) return -static_cast<std::int64_t>(all >> 1) - 1;
  return static_cast<std::int64_t>(number);
}

void cast(const Lanes& x, DType from, DType to, std::size_t count, Lanes& y) {
  const bool is_unsigned = from == DType::U64;  // narrower ones are positive in 64 bits
  for (std::size_t k = 0; k < count; ++k) {
    if (x.kind == LaneKind::Int && y.kind == LaneKind::Int) {
      y.i64[k] = ir::decode_integer(to, ir::encode_integer(to, x.i64[k]));
    } else if (x.kind == LaneKind::Int) {
      integer_to_float(x.i64[k], is_unsigned, to, k, y);
    } else if (y.kind == LaneKind::Int) {
      y.i64[k] = float_to_integer(to, float_lane(x, k));
    } else if (y.kind == LaneKind::F64) {
      y.f64[k] = float_lane(x, k);
    } else {
      y.f32[k] = static_cast<float>(float_lane(x, k));
    }
  }
  round_to(to, count, y);
}

void bitcast(const Lanes& x, DType from, DType to, std::size_t count, Lanes& y) {
  for (std::size_t k = 0; k < count; ++k) set_lane(to, lane_bits(x, from, k), k, y);
}

}  // namespace luminal::interp
