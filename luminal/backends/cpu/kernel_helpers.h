// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of this process that generated kernels call: what has no vector form (math in double) and sorting. Their C declarations are codegen::helper_declarations().
#pragma once

#include "luminal/backends/cpu/jit_plugin.h"

#include <vector>

namespace luminal::cpu {

std::vector<HelperSymbol> kernel_helpers();

/// The permutation that sorts `count` keys ascending, equal keys in order. `scratch` holds 4 * count bytes.
/// Linear time: radix sort by bytes, skipping bytes that all keys share.
void sort_keys(const unsigned long* keys, int* order, long count, char* scratch);

}  // namespace luminal::cpu
