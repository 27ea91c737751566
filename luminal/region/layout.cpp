// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/region/layout.h"

namespace luminal::region {

using ir::ExprId;
using ir::Exprs;

int stored_bits(ir::DType dtype, const Layout& layout) {
  const int bits = ir::dtype_bits(dtype);
  const bool packs = bits == 1 || bits == 2 || bits == 4;
  return layout.lane_axis >= 0 && packs ? bits : ir::dtype_bytes(dtype) * 8;
}

ExprId byte_size(Exprs& exprs, ir::DType dtype, const ir::Shape& shape, const Layout& layout) {
  ExprId count = exprs.constant(1);
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    if (axis == layout.lane_axis) {
      const ExprId lanes = exprs.constant(kLanes);
      count = exprs.mul(count, exprs.mul(exprs.ceil_div(shape[axis], lanes), lanes));
    } else {
      count = exprs.mul(count, shape[axis]);
    }
  }
  const int bits = stored_bits(dtype, layout);
  if (bits >= 8) return exprs.mul(count, exprs.constant(bits / 8));
  return exprs.floor_div(count, exprs.constant(8 / bits));
}

ExprId element_offset(Exprs& exprs, const ir::Shape& shape, const Layout& layout,
                      std::span<const ExprId> index) {
  LUM_CHECK(index.size() == shape.size());
  ExprId offset = exprs.constant(0);
  if (layout.lane_axis >= 0)
    offset = exprs.floor_div(index[layout.lane_axis], exprs.constant(kLanes));
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    if (axis == layout.lane_axis) continue;
    offset = exprs.add(exprs.mul(offset, shape[axis]), index[axis]);
  }
  return offset;
}

int lane_bit(int bits, int lane) {
  return bits == 4 ? 32 * (lane % 2) + 4 * (lane / 2) : bits * lane;
}

}  // namespace luminal::region
