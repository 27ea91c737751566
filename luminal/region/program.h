// SPDX-License-Identifier: MIT OR Apache-2.0
// A program of regions: stored tensors and the steps that compute them, in an order in which every step reads only
// what earlier steps or the outside have written. It says nothing of memory or threads; plan/ adds those.
// Regions are shared: steps of equal layers name one region with other buffers.
#pragma once

#include "luminal/region/region.h"

#include <optional>
#include <string>
#include <vector>

namespace luminal::region {

using BufferId = Id<struct StoredTag>;

enum class StoredKind : std::uint8_t {
  Input,     ///< given for each run, dense
  Weight,    ///< loaded once into `layout` from the file's `storage`
  State,     ///< lives between runs, dense, starts at zero
  Constant,  ///< `bits`, dense
  Computed,  ///< written by one step
};

struct Stored {
  StoredKind kind = StoredKind::Computed;
  std::string name;  ///< of the HLIR Input; empty for others
  DType dtype = DType::F32;
  ir::Shape shape;
  Layout layout;
  bool finite = false;                      ///< Weight: checked at load
  std::optional<ir::Storage> storage;       ///< Weight: where it lies in the file; absent: dense in its own buffer
  std::vector<std::uint64_t> bits;          ///< Constant
};

struct Step {
  int region = 0;
  std::vector<BufferId> buffers;  ///< as Region::buffers: inputs, then the output
  /// Update only: the tensor whose contents the output starts from. The plan lets the output take its memory when it
  /// dies here, and copies it otherwise.
  BufferId dest;
};

struct ProgramOutput {
  std::string name;
  BufferId buffer;
  BufferId state;  ///< a State that holds the value from the next run on, or none
};

struct Program {
  ir::Exprs exprs;
  Store<BufferId, Stored> buffers;
  std::vector<Region> regions;
  std::vector<Step> steps;
  std::vector<ProgramOutput> outputs;
};

/// Steps read only what is there, buffers match the regions', every Computed buffer has exactly one writer.
Status verify(const Program& program);

}  // namespace luminal::region
