// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the elements of a stored tensor lie. Two kinds cover everything so far:
//   dense   row-major, elements alone (sub-byte types take a byte)
//   lanes   for weights: the lane axis is cut into groups of kLanes; a group is innermost and packed to
//           kLanes * bits, groups of the other axes follow row-major, lane groups are outermost:
//           [axis / kLanes][other axes][axis % kLanes]. The last group is padded.
// In a lane group of 4-bit fields lane l lies at bit 32*(l%2) + 4*(l/2), so that one 64-bit broadcast, a shift by
// lane and a mask unpack it; of 1- and 2-bit fields at bit l and 2*l; other widths take whole bytes in lane order.
#pragma once

#include "luminal/ir/graph.h"

namespace luminal::region {

inline constexpr int kLanes = 16;

struct Layout {
  int lane_axis = -1;  ///< -1: dense
  friend auto operator<=>(const Layout&, const Layout&) = default;
};

/// Bits that one element takes in the layout: the type's, or rounded up to whole bytes where fields of that width are
/// not packed.
int stored_bits(ir::DType dtype, const Layout& layout);
/// Bytes that a tensor takes, an expression of symbols.
ir::ExprId byte_size(ir::Exprs& exprs, ir::DType dtype, const ir::Shape& shape,
                     const Layout& layout);
/// Dense: element number of the index. Lanes: number of the lane group (its byte offset is that times
/// kLanes * stored_bits / 8); the lane is index[lane_axis] mod kLanes.
ir::ExprId element_offset(ir::Exprs& exprs, const ir::Shape& shape, const Layout& layout,
                          std::span<const ir::ExprId> index);
/// Bit of lane `lane` within a group of fields of that width.
int lane_bit(int bits, int lane);

}  // namespace luminal::region
