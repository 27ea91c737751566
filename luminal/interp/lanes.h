// SPDX-License-Identifier: MIT OR Apache-2.0
// A block of numbers in the type that the interpreter computes in, and its way to and from memory.
//   F64 mode:   every float is a double; nothing is rounded to its dtype.
//   Exact mode: F64 is a double, every other float a float that is rounded to its dtype after each
//               primitive; integers and Bool are 64-bit integers, wrapped to their dtype.
//
//   Lanes x;
//   load(source, Offsets::run(100, 1), 64, x);   // elements 100 .. 163
#pragma once

#include <cstddef>
#include <cstdint>

#include "luminal/ir/dtype.h"

namespace luminal::interp {

enum class Mode : std::uint8_t {
  F64,    ///< the oracle: real arithmetic as well as doubles can
  Exact,  ///< bit for bit the meaning of the program
};

enum class LaneKind : std::uint8_t { F64, F32, Int };
LaneKind lane_kind(ir::DType dtype, Mode mode);

constexpr std::size_t kLanes = 512;

struct Lanes {
  LaneKind kind = LaneKind::F32;
  union {
    double f64[kLanes];
    float f32[kLanes];
    std::int64_t i64[kLanes];
  };
};

/// Where the elements of a block lie: base + stride * k, or a list.
struct Offsets {
  std::int64_t base = 0;
  std::int64_t stride = 0;
  const std::int64_t* list = nullptr;

  std::int64_t operator[](std::size_t k) const {
    return list ? list[k] : base + stride * static_cast<std::int64_t>(k);
  }
};

/// Dense elements in memory. `wide`: floats are doubles.
struct Source {
  const std::uint8_t* data = nullptr;
  ir::DType dtype = ir::DType::F32;
  bool wide = false;
};

/// Fills lanes 0 .. count-1 (y.kind is set by the caller) from elements at the offsets.
void load(const Source& source, const Offsets& offsets, std::size_t count, Lanes& y);
/// The same from fields of the dtype's width at offsets counted in bits.
void load_fields(const Source& source, const Offsets& bit_offsets, std::size_t count, Lanes& y);
/// Writes lanes to consecutive elements from index `begin` on.
void store(const Lanes& x, std::size_t count, ir::DType dtype, bool wide, std::uint8_t* data,
           std::int64_t begin);

/// One number of an element: what load gives for these bits.
void fill(ir::DType dtype, std::uint64_t bits, Lanes& y);
/// Float lanes of a narrow dtype to the nearest numbers of that dtype; others stay.
void round_to(ir::DType dtype, std::size_t count, Lanes& x);
/// Cast as the primitive's row says, see lanes.cpp; y.kind is set by the caller.
void cast(const Lanes& x, ir::DType from, ir::DType to, std::size_t count, Lanes& y);
/// The bits of x, rounded to its dtype first, read as the other dtype of the same width.
void bitcast(const Lanes& x, ir::DType from, ir::DType to, std::size_t count, Lanes& y);

/// A float as an integer of the dtype: truncated, saturated, NaN gives 0 (Bool: not equal to 0).
std::int64_t float_to_integer(ir::DType to, double number);

}  // namespace luminal::interp
