// SPDX-License-Identifier: MIT OR Apache-2.0
// One region to one C kernel. The text holds two functions:
//   long lum_tasks(const long* s)                        number of tasks for these symbol values
//   void lum_kernel(char* const* b, const long* s, long first, long last, char* scratch)
// Tasks are independent. Everything that a schedule decides (lane axis, tiles, whether a sum of products runs as packed
// panels under a register tile) is in Knobs, and changes no value beyond the order of a reduction's additions.
#pragma once

#include "luminal/region/region.h"

#include <cstdint>
#include <string>

namespace luminal::codegen {

/// What the kernel is generated for, beside the C compiler's own flags.
struct Machine {
  int vector_registers = 32;  ///< that hold 16 floats each (a register of 8 floats is half a one)
};

struct Knobs {
  int lane_axis = -1;    ///< of the whole region; -1: scalars
  bool contract = false; ///< Sum of a product as panels and a register tile
  int column_axis = -1;  ///< contract: the lane axis of the panel operand and the output
  int row_axis = -1;     ///< contract: the rows of the register tile
  int tile_rows = 6;     ///< contract: rows of the register tile
  int tile_vectors = 4;  ///< contract: its columns, in vectors of 16
  int depth = 256;       ///< contract: reduction steps of one panel, about
};

struct KernelText {
  std::string text;            ///< without the prelude
  std::int64_t scratch_bytes = 0;
};

/// Good settings without measuring.
Knobs default_knobs(const region::Region& region, ir::Exprs& exprs, const Machine& machine);

KernelText lower(const region::Region& region, ir::Exprs& exprs, const Knobs& knobs);

}  // namespace luminal::codegen
