// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/codegen/contract.h"

#include <algorithm>

namespace luminal::codegen {
namespace {

using ir::ExprId;
using region::kLanes;
using region::Node;
using region::NodeId;
using region::NodeKind;
using region::Region;

constexpr std::int64_t kLongestInner = 1024;

// Step of each index of a load along an axis; empty if one of them is not linear in it.
std::vector<std::int64_t> index_steps(Body& body, const Node& load, int axis) {
  std::vector<std::int64_t> steps;
  for (ExprId index : load.index) {
    const std::int64_t step = body.step_along(index, axis);
    if (step == 0 && (body.axes_of(index) >> axis & 1) != 0) return {};
    steps.push_back(step);
  }
  return steps;
}

// A dense f32 tensor whose indices are linear in the row axis and in every reduced axis.
bool readable_in_place(const Region& region, ir::Exprs& exprs, Body& body, const Contraction& c) {
  if (c.row_factors.size() != 1) return false;
  const Node& node = region.nodes[c.row_factors[0].index];
  if (node.kind != NodeKind::Load || node.dtype != ir::DType::F32 || node.index.empty() ||
      region.buffers[node.buffer].layout.lane_axis >= 0)
    return false;
  for (ExprId index : node.index)  // nothing hidden in a quotient or minimum
    for (const auto& [term, step] : exprs.linear(index).terms) {
      const ir::ExprKind kind = exprs.node(term).kind;
      const std::uint64_t varying = body.axes_of(term);
      if (kind != ir::ExprKind::Coord && varying != 0) return false;
      if (kind == ir::ExprKind::Coord &&
          exprs.node(term).value >= static_cast<std::int64_t>(region.axes.size()))
        return false;
    }
  return true;
}

bool continues(Body& body, const Node& load, int outer, int inner, std::int64_t inner_extent) {
  const std::vector<std::int64_t> a = index_steps(body, load, outer);
  const std::vector<std::int64_t> b = index_steps(body, load, inner);
  if (a.empty() || b.empty()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k] * inner_extent) return false;
  return true;
}

// The longest run of innermost reduced axes that a panel can hold as one.
void choose_panel_axes(const Region& region, ir::Exprs& exprs, Body& body, Contraction& c) {
  std::vector<int> reduced;
  for (int axis = region.output_rank; axis < static_cast<int>(region.axes.size()); ++axis)
    if (!exprs.is_constant(region.axes[axis].extent, 1)) reduced.push_back(axis);
  const Node& load = region.nodes[c.row_factors[0].index];
  std::size_t first = reduced.empty() ? 0 : reduced.size() - 1;
  while (first > 0) {
    const auto extent = exprs.as_constant(region.axes[reduced[first]].extent);
    if (!extent || c.inner_depth * *extent > kLongestInner) break;
    if (c.rows_in_place && !continues(body, load, reduced[first - 1], reduced[first], *extent)) break;
    c.inner_depth *= *extent;
    --first;
  }
  c.outer_axes.assign(reduced.begin(), reduced.begin() + first);
  c.panel_axes.assign(reduced.begin() + first, reduced.end());
}

class Contract {
 public:
  Contract(Emit& emit, Contraction contraction)
      : emit_(emit),
        out_(emit.writer),
        body_(emit.body),
        c_(std::move(contraction)),
        columns_(emit.knobs.tile_vectors * kLanes),
        panel_wanted_(body_.reach(c_.column_factors)),
        rows_wanted_(body_.reach(c_.row_factors)) {
    const std::int64_t tile = std::max<std::int64_t>(1, emit.knobs.depth / c_.inner_depth);
    first_tile_ = c_.panel_axes.empty()
                      ? 1
                      : std::min(tile, std::max<std::int64_t>(1, emit.extent_bound(c_.panel_axes[0])));
    depth_ = first_tile_ * c_.inner_depth;
  }

  void run() {
    write_micro_kernels();
    row_extent_ = emit_.extent(c_.row_axis);
    range_ = begin_tasks(emit_, c_.task_axes, c_.column_axis, columns_);
    panel_ = out_.fresh("panel");
    out_.line("float* const ", panel_, " = (float*)", emit_.scratch(depth_ * columns_ * 4), ";");
    choose_output();
    if (!c_.rows_in_place) {
      packed_rows_ = out_.fresh("rows");
      const std::int64_t bytes = emit_.extent_bound(c_.row_axis) * depth_ * 4;
      out_.line("float* const ", packed_rows_, " = (float*)", emit_.scratch(bytes), ";");
    }
    clear_output();
    for (int axis : c_.outer_axes) open_loop(axis);
    open_panels();
    pack_panel();
    for (int axis : c_.loop_axes) open_loop(axis);
    if (!c_.rows_in_place) pack_rows();
    multiply();
    close_loops(c_.loop_axes.size());
    if (!c_.panel_axes.empty()) out_.close();
    close_loops(c_.outer_axes.size());
    if (!direct_) copy_out();
    end_tasks(emit_);
  }

 private:
  void open_loop(int axis) {
    const std::string name = cat("c", axis);
    out_.open("for (long ", name, " = 0; ", name, " < ", emit_.extent(axis), "; ++", name, ")");
    body_.push();
    body_.bind(axis, name);
  }
  void close_loops(std::size_t count) {
    for (; count > 0; --count) {
      body_.pop();
      out_.close();
    }
  }

  // void micro_R(a, row step, depth step, panel, c, c's row step, depth): c[R][columns] += a * panel.
  void write_micro_kernels() {
    Writer& out = emit_.before;
    for (int rows : row_counts()) {
      out.open("static __attribute__((noinline)) void micro_", rows,
                "(const float* a, long am, long ak, const float* p, float* c, long cm, long depth)");
      const int vectors = emit_.knobs.tile_vectors;
      auto at = [](int r, int v) { return cat("c", r, "_", v); };
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
          out.line("f32x16 ", at(r, v), " = *(const f32x16u*)(c + ", r, " * cm + ", v * kLanes, ");");
      out.open("for (long k = 0; k < depth; ++k)");
      for (int v = 0; v < vectors; ++v)
        out.line("const f32x16 p", v, " = *(const f32x16*)(p + ", v * kLanes, ");");
      for (int r = 0; r < rows; ++r) {
        out.line("const f32x16 a", r, " = (f32x16)(a[", r, " * am]);");
        for (int v = 0; v < vectors; ++v)
          out.line(at(r, v), " = lum_fma(a", r, ", p", v, ", ", at(r, v), ");");
      }
      out.line("p += ", columns_, "; a += ak;");
      out.close();
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
          out.line("*(f32x16u*)(c + ", r, " * cm + ", v * kLanes, ") = ", at(r, v), ";");
      out.close();
    }
  }

  std::vector<int> row_counts() const {
    std::vector<int> counts = {emit_.knobs.tile_rows};
    if (emit_.knobs.tile_rows > 2) counts.push_back(2);
    if (emit_.knobs.tile_rows > 1) counts.push_back(1);
    return counts;
  }

  // The output itself accumulates when whole tiles of it are f32 with unit step, else a scratch copy does.
  void choose_output() {
    const std::int64_t extent = emit_.constant_extent(c_.column_axis);
    bool linear = true;
    for (ExprId index : emit_.region.store)
      linear &= body_.step_along(index, c_.row_axis) != 0 ||
                (body_.axes_of(index) >> c_.row_axis & 1) == 0;
    direct_ = linear && emit_.region.buffers.back().dtype == ir::DType::F32 && extent > 0 &&
              extent % columns_ == 0 && body_.store_pattern(c_.column_axis) == Pattern::Unit;
    if (direct_) return;
    std::int64_t rows = emit_.extent_bound(c_.row_axis);
    for (int axis : c_.loop_axes) rows *= emit_.extent_bound(axis);
    sums_ = out_.fresh("sums");
    out_.line("float* const ", sums_, " = (float*)", emit_.scratch(rows * columns_ * 4), ";");
  }

  // C text of where row `row` of the present loop axes accumulates.
  std::string sums_at(const std::string& row) {
    body_.push();
    body_.bind(c_.row_axis, row);
    body_.bind(c_.column_axis, range_.from);
    std::string text;
    if (direct_) {
      text = cat("((float*)b", emit_.region.output_buffer(), " + ",
                 body_.index_text(body_.store_offset()), ")");
    } else {
      std::string number = "0l";
      for (int axis : c_.loop_axes) number = cat("(", number, " * ", emit_.extent(axis), " + c", axis, ")");
      text = cat("(", sums_, " + (", number, " * ", row_extent_, " + ", row, ") * ", columns_, ")");
    }
    body_.pop();
    return text;
  }

  void clear_output() {
    for (int axis : c_.loop_axes) open_loop(axis);
    out_.open("for (long m = 0; m < ", row_extent_, "; ++m)");
    out_.line("float* c = ", sums_at("m"), ";");
    out_.line("for (int j = 0; j < ", columns_, "; ++j) c[j] = 0;");
    out_.close();
    close_loops(c_.loop_axes.size());
  }

  void open_panels() {
    if (c_.panel_axes.empty()) {
      out_.line("const long p0 = 0, p1 = 1;");
      return;
    }
    const std::string extent = emit_.extent(c_.panel_axes[0]);
    out_.open("for (long p0 = 0; p0 < ", extent, "; p0 += ", first_tile_, ")");
    out_.line("const long p1 = lum_lmin(p0 + ", first_tile_, ", ", extent, ");");
  }

  // Opens loops over the panel axes, emitting what is `wanted` as soon as it can be; binds `kk`, the row of the panel.
  void open_depth(const std::vector<bool>& wanted) {
    std::string number = "0l";
    body_.emit_ready(wanted);
    for (std::size_t k = 0; k < c_.panel_axes.size(); ++k) {
      const int axis = c_.panel_axes[k];
      const std::string name = cat("c", axis);
      if (k == 0) {
        out_.open("for (long ", name, " = p0; ", name, " < p1; ++", name, ")");
        number = cat("(", name, " - p0)");
      } else {
        out_.open("for (long ", name, " = 0; ", name, " < ", emit_.extent(axis), "; ++", name, ")");
        number = cat("(", number, " * ", emit_.extent(axis), " + ", name, ")");
      }
      body_.push();
      body_.bind(axis, name);
      body_.emit_ready(wanted);
    }
    out_.line("const long kk = ", number, ";");
  }

  std::string product(const std::vector<NodeId>& factors, bool vector) {
    std::string text = body_.text(factors[0], vector);
    for (std::size_t k = 1; k < factors.size(); ++k) text = cat(text, " * ", body_.text(factors[k], vector));
    return text;
  }

  void pack_panel() {
    const std::int64_t extent = emit_.constant_extent(c_.column_axis);
    const bool whole = extent > 0 && extent % columns_ == 0;
    out_.open("for (long n = ", range_.from, "; n < ", range_.from, " + ", columns_, "; n += ", kLanes, ")");
    out_.line("float* const column = ", panel_, " + (n - ", range_.from, ");");
    if (!whole) out_.open("if (n + ", kLanes, " <= ", range_.to, ")");
    pack_columns("n", kLanes);
    if (!whole) {
      out_.close();
      out_.open("else for (long l = 0; l < ", kLanes, "; ++l)");
      out_.open("if (n + l < ", range_.to, ")");
      pack_columns("(n + l)", 1);
      out_.close();
      out_.open("else");
      out_.line("for (long kk = 0; kk < ", depth_, "; ++kk) column[kk * ", columns_, " + l] = 0;");
      out_.close();
      out_.close();
    }
    out_.close();
  }

  void pack_columns(const std::string& coordinate, int lanes) {
    body_.push();
    body_.bind_lanes(c_.column_axis, coordinate, lanes);
    open_depth(panel_wanted_);
    if (lanes > 1)
      out_.line("*(f32x16*)(column + kk * ", columns_, ") = ", product(c_.column_factors, true), ";");
    else
      out_.line("column[kk * ", columns_, " + l] = ", product(c_.column_factors, false), ";");
    close_loops(c_.panel_axes.size());
    body_.pop();
  }

  void pack_rows() {
    out_.open("for (long m = 0; m < ", row_extent_, "; ++m)");
    body_.push();
    body_.bind(c_.row_axis, "m");
    open_depth(rows_wanted_);
    out_.line(packed_rows_, "[m * ", depth_, " + kk] = ", product(c_.row_factors, false), ";");
    close_loops(c_.panel_axes.size());
    body_.pop();
    out_.close();
  }

  // C text of the row operand's offset at a row and a depth position of the panel's first element.
  std::string row_offset(const std::string& row, int moved_axis) {
    const Node& load = emit_.region.nodes[c_.row_factors[0].index];
    body_.push();
    body_.bind(c_.row_axis, row);
    for (std::size_t k = 0; k < c_.panel_axes.size(); ++k) {
      std::string at = k == 0 ? "p0" : "0l";
      if (c_.panel_axes[k] == moved_axis) at = cat("(", at, " + 1)");
      body_.bind(c_.panel_axes[k], at);
    }
    std::string text = body_.index_text(body_.load_offset(load));
    body_.pop();
    return text;
  }

  void multiply() {
    out_.line("const long depth = (p1 - p0) * ", c_.inner_depth, ";");
    if (c_.rows_in_place) {
      const int buffer = emit_.region.nodes[c_.row_factors[0].index].buffer;
      out_.line("const float* const a0 = (const float*)b", buffer, " + ", row_offset("0l", -1), ";");
      out_.line("const long am = ", row_offset("1l", -1), " - (", row_offset("0l", -1), ");");
      const int last = c_.panel_axes.empty() ? -1 : c_.panel_axes.back();
      out_.line("const long ak = ", row_offset("0l", last), " - (", row_offset("0l", -1), ");");
    } else {
      out_.line("const float* const a0 = ", packed_rows_, "; const long am = ", depth_, ", ak = 1;");
    }
    out_.line("const long cm = ", sums_at("1l"), " - ", sums_at("0l"), ";");
    out_.line("float* const c0 = ", sums_at("0l"), ";");
    out_.line("long m = 0;");
    for (int rows : row_counts())
      out_.line("for (; m + ", rows, " <= ", row_extent_, "; m += ", rows, ") micro_", rows,
                "(a0 + m * am, am, ak, ", panel_, ", c0 + m * cm, cm, depth);");
  }

  void copy_out() {
    for (int axis : c_.loop_axes) open_loop(axis);
    out_.open("for (long m = 0; m < ", row_extent_, "; ++m)");
    out_.line("const float* const c = ", sums_at("m"), ";");
    body_.push();
    body_.bind(c_.row_axis, "m");
    out_.line("long n = ", range_.from, ";");
    copy_columns(cat("for (; n + ", kLanes, " <= ", range_.to, "; n += ", kLanes, ")"), kLanes,
                 cat("*(const f32x16u*)(c + n - ", range_.from, ")"));
    copy_columns(cat("for (; n < ", range_.to, "; ++n)"), 1, cat("c[n - ", range_.from, "]"));
    body_.pop();
    out_.close();
    close_loops(c_.loop_axes.size());
  }

  void copy_columns(const std::string& loop, int lanes, const std::string& value) {
    out_.open(loop);
    body_.push();
    body_.bind_lanes(c_.column_axis, "n", lanes);
    body_.store(value, lanes > 1);
    body_.pop();
    out_.close();
  }

  Emit& emit_;
  Writer& out_;
  Body& body_;
  Contraction c_;
  int columns_;
  std::vector<bool> panel_wanted_, rows_wanted_;
  std::int64_t first_tile_ = 1, depth_ = 1;
  TaskRange range_;
  std::string row_extent_, panel_, packed_rows_, sums_;
  bool direct_ = false;
};

}  // namespace

std::optional<Contraction> as_contraction(const Region& region, ir::Exprs& exprs, Body& body,
                                          int column_axis) {
  const std::vector<NodeId> factors = product_factors(region);
  Contraction c;
  c.column_axis = column_axis;
  std::uint64_t row_axes = 0, column_axes = 0;
  const std::uint64_t output_axes = (std::uint64_t{1} << region.output_rank) - 1;
  for (NodeId factor : factors) {
    // What depends on no output axis (constants, gains over the reduced axis) costs nothing in the panel.
    const bool column = (body.axes_of(factor) >> column_axis & 1) != 0 ||
                        (body.axes_of(factor) & output_axes) == 0;
    (column ? c.column_factors : c.row_factors).push_back(factor);
    (column ? column_axes : row_axes) |= body.axes_of(factor);
  }
  if (c.row_factors.empty() || c.column_factors.empty()) return std::nullopt;
  std::int64_t longest = 0;
  for (int axis = 0; axis < region.output_rank; ++axis) {
    if (axis == column_axis || exprs.is_constant(region.axes[axis].extent, 1)) continue;
    const bool in_rows = (row_axes >> axis & 1) != 0, in_columns = (column_axes >> axis & 1) != 0;
    (in_columns ? c.task_axes : c.loop_axes).push_back(axis);
    const std::int64_t bound = exprs.interval(region.axes[axis].extent).hi;
    if (in_rows && !in_columns && bound > longest) {
      longest = bound;
      c.row_axis = axis;
    }
  }
  if (c.row_axis < 0) return std::nullopt;
  std::erase(c.loop_axes, c.row_axis);
  c.rows_in_place = readable_in_place(region, exprs, body, c);
  choose_panel_axes(region, exprs, body, c);
  return c;
}

void lower_contract(Emit& emit) {
  std::optional<Contraction> contraction =
      as_contraction(emit.region, emit.exprs, emit.body, emit.knobs.column_axis);
  LUM_CHECK(contraction.has_value());
  Contract(emit, std::move(*contraction)).run();
}

}  // namespace luminal::codegen
