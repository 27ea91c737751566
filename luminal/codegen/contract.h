// SPDX-License-Identifier: MIT OR Apache-2.0
// A sum of products as a contraction: the factors fall into those with the column axis (the panel operand, written
// into panels of 16*v columns by an ordinary map nest, so dequantisation and transposition happen there, once) and the
// others (the row operand, read in place or packed). What is a contraction is decided by the axes of the factors alone.
#pragma once

#include "luminal/codegen/emit.h"

#include <optional>
#include <vector>

namespace luminal::codegen {

struct Contraction {
  std::vector<region::NodeId> row_factors, column_factors;
  int column_axis = -1;
  int row_axis = -1;                ///< the longest output axis of the row factors alone
  std::vector<int> task_axes;       ///< other output axes of the column factors
  std::vector<int> loop_axes;       ///< other output axes: they share the panels
  std::vector<int> outer_axes;      ///< reduced axes outside of a panel
  std::vector<int> panel_axes;      ///< reduced axes of a panel, all but the first of constant extent
  std::int64_t inner_depth = 1;     ///< product of the extents of panel_axes but the first
  bool rows_in_place = false;       ///< the row operand is read where it lies
};

/// The region as a contraction over this column axis, if it is one.
std::optional<Contraction> as_contraction(const region::Region& region, ir::Exprs& exprs, Body& body,
                                          int column_axis);

}  // namespace luminal::codegen
