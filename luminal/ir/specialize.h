// SPDX-License-Identifier: MIT OR Apache-2.0
// A graph with some of its symbols fixed: the decode step of a model is its graph with one token a step.
#pragma once

#include "luminal/ir/graph.h"

#include <map>
#include <string>

namespace luminal::ir {

/// The same graph with the named symbols replaced by numbers everywhere; values keep their ids.
/// Fails when a symbol does not exist or the number is outside of its range.
Result<Graph> specialize(const Graph& graph, const std::map<std::string, std::int64_t>& symbols);

}  // namespace luminal::ir
