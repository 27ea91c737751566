// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the values of a region's nodes as C statements. Each node is written once in the outermost open scope in
// which all the axes that it depends on are bound, so loops carry no invariant work; nodes that depend on the lane
// axis are vectors of region::kLanes elements (or scalars in a tail), all others scalars.
//
//   body.bind(0, "c0");  body.emit_ready(wanted);           // what depends on axis 0 alone
//   writer.open("for (long c1 = 0; ..)"); body.push(); body.bind_lanes(1, "c1", 16); body.emit_ready(wanted);
//   body.text(root, true);                                  // the C name of the root, as a vector
#pragma once

#include "luminal/codegen/types.h"
#include "luminal/codegen/writer.h"
#include "luminal/region/region.h"

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::codegen {

/// How the address of a load or store moves along one axis.
enum class Pattern : std::uint8_t { Uniform, Unit, Strided, General };

class Body {
 public:
  Body(const region::Region& region, ir::Exprs& exprs, Writer& writer);

  void push();
  void pop();
  void bind(int axis, std::string coordinate);
  /// `coordinate` is the first lane's; in vector mode (lanes > 1) it is a multiple of kLanes.
  void bind_lanes(int axis, std::string coordinate, int lanes);

  /// Writes every node of `wanted` (a flag a node) that can be written with the axes bound now and is not yet there.
  void emit_ready(const std::vector<bool>& wanted);
  /// The C expression of a written node; as a vector, splat if need be.
  std::string text(region::NodeId node, bool as_vector) const;
  bool is_vector(region::NodeId node) const;

  /// Writes the store of `value` (of the output's compute class) to the region's output at its store index.
  void store(const std::string& value, bool vector);
  /// As store, into any buffer text at any index; for partial outputs.
  void store_to(const std::string& base, ir::DType dtype, ir::ExprId offset,
                const std::string& value, bool vector);
  /// An integer expression in C with the coordinates bound now.
  std::string index_text(ir::ExprId expr) const;
  /// The value of an indirect coordinate before clamping.
  std::string indirect_text(int number) const;

  /// Nodes that `roots` are made of, indirect coordinates included.
  std::vector<bool> reach(const std::vector<region::NodeId>& roots) const;
  std::uint64_t axes_of(region::NodeId node) const { return axes_[node.index]; }
  std::uint64_t axes_of(ir::ExprId expr) const;
  Pattern pattern(const region::Node& load, int axis);
  Pattern store_pattern(int axis);
  /// Step of the element number along the axis when the pattern is Unit or Strided.
  std::int64_t step_along(ir::ExprId offset, int axis) const;
  ir::ExprId load_offset(const region::Node& load);
  ir::ExprId store_offset();
  const std::vector<ir::Interval>& ranges() const { return ranges_; }

 private:
  struct Undo {
    enum Kind { Written, Bound, Lanes } kind;
    int number;
    std::string text;
    int lanes;
  };
  void emit(std::size_t node);
  std::string load_text(const region::Node& node, bool vector);
  std::string lanes_text(const region::Node& node, bool vector);
  std::string each_lane(Class c, const std::string& scalar_call);
  std::string map_text(const region::Node& node, bool vector) const;
  std::string cast_text(const region::Node& node, bool vector) const;
  Pattern offset_pattern(ir::ExprId offset, int axis) const;
  std::string print_expr(ir::ExprId expr, const std::string& lane_add) const;

  const region::Region& region_;
  ir::Exprs& exprs_;
  Writer& writer_;
  std::vector<std::uint64_t> axes_;
  std::vector<ir::Interval> ranges_;
  std::vector<std::string> written_;  // C name of a node, "" if not written
  std::vector<bool> vector_;
  std::vector<std::string> coords_;   // C text of an axis, "" if not bound
  std::uint64_t bound_ = 0;
  int lane_axis_ = -1;
  int lanes_ = 1;
  std::vector<Undo> undo_;
  std::vector<std::size_t> marks_;
};

}  // namespace luminal::codegen
