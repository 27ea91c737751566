// SPDX-License-Identifier: MIT OR Apache-2.0
// A region: what one kernel computes, with named axes and no schedule. It is closed and content-addressed: buffers
// are numbered by first use, so the regions of equal layers are equal texts and one kernel serves them all.
//
// Axes are numbered; coordinate k of every expression is axis k. The first `output_rank` axes are the points of the
// output (for Update: of the written rows), the others are reduced. Nodes are in topological order; `root` is the
// value at one point. A coordinate number from `axes.size()` on is an indirect coordinate: the integer that a node
// computes (Gather), clamped to [0, limit-1].
//
//   out[t, n] = sum_k x[t, k] * w[n, k]
//   axes t(T) n(640) | k(640);  reads 0: x[c0, c2], 1: w[c1, c2];  root = mul;  combine = Sum over c2
#pragma once

#include "luminal/ir/graph.h"
#include "luminal/region/layout.h"

#include <string>
#include <vector>

namespace luminal::region {

using ir::DType;
using ir::ExprId;
using ir::Prim;
using NodeId = Id<struct NodeTag>;

struct Axis {
  ExprId extent;
};

enum class NodeKind : std::uint8_t {
  Constant,  ///< `bits` of the dtype
  Index,     ///< the integer `index[0]`, cast to the dtype
  Load,      ///< element `index` of buffer `buffer`
  Map,       ///< primitive of family Map on `operands`
};

struct Node {
  NodeKind kind = NodeKind::Constant;
  Prim prim = Prim::Add;
  DType dtype = DType::F32;
  std::vector<NodeId> operands;
  std::vector<ExprId> index;
  int buffer = -1;
  std::uint64_t bits = 0;
  friend auto operator<=>(const Node&, const Node&) = default;
};

/// An integer computed by a node that stands as a coordinate in index expressions.
struct Indirect {
  NodeId node;
  ExprId limit;  ///< clamped to [0, limit-1]
};

/// A buffer that the region reads or writes: how its elements lie.
struct Buffer {
  DType dtype = DType::F32;
  ir::Shape shape;
  Layout layout;
};

enum class Form : std::uint8_t {
  Map,     ///< out[axes] = root
  Reduce,  ///< out[output axes] = combine over the reduced axes of root
  Scan,    ///< out = running combination along axis `axis`, in order
  Sort,    ///< out = I32 permutation that sorts root along axis `axis`
  Update,  ///< out[store] = root or combined with it, in the order of axis numbers of `ordered` axes
};

struct Region {
  Form form = Form::Map;
  std::vector<Axis> axes;
  int output_rank = 0;
  std::vector<Indirect> indirect;
  std::vector<Buffer> buffers;  ///< inputs in order of first use; the output is last
  std::vector<Node> nodes;
  std::vector<NodeId> roots;    ///< one; Scan Affine: a and b
  Prim combine = Prim::SumReduce;                  ///< Reduce
  ir::ScanOp scan_op = ir::ScanOp::Sum;            ///< Scan
  ir::ScatterMode update_mode = ir::ScatterMode::Set;  ///< Update
  int axis = 0;                                    ///< Scan, Sort
  std::vector<ExprId> store;  ///< index of the output for each point: coordinates for all but Update
  bool ordered = false;       ///< Update: points with equal `store` may meet; `ordered_axes` run in order
  std::vector<int> ordered_axes;
  /// Update: the position along axis `axis` of the output comes from this indirect coordinate and is dropped, not
  /// clamped, when outside; none when the index is affine and proved inside.
  int drop_indirect = -1;

  int output_buffer() const { return static_cast<int>(buffers.size()) - 1; }
};

/// Axes (bit k = axis k) that each node depends on, through indirect coordinates too.
std::vector<std::uint64_t> node_axes(const Region& region, const ir::Exprs& exprs);
std::uint64_t expr_axes(const Region& region, const ir::Exprs& exprs, ExprId expr,
                        const std::vector<std::uint64_t>& nodes);

/// What is wrong with a region, or ok: ids in order, types as the primitive table says, indices of the right rank.
Status verify(const Region& region, const ir::Exprs& exprs);

/// Text of a region, one line a node; equal regions over equal expressions print equal.
std::string print(const Region& region, const ir::Exprs& exprs);

}  // namespace luminal::region
