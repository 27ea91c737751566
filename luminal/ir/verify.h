// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks a whole graph, as it comes from a file or a user: types follow from operands, every View reads inside of its
// operand for all values of the symbols, weights lie where they say, outputs and their states agree.
#pragma once

#include "luminal/ir/graph.h"

namespace luminal::ir {

/// The first defect: "%7 = view (model.py:12): ..".
Status verify(const Graph& graph);

/// "%7 = view", and the user's line where it is known: how messages name a value.
std::string value_label(const Graph& graph, ValueId id);

}  // namespace luminal::ir
