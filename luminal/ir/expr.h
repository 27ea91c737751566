// SPDX-License-Identifier: MIT OR Apache-2.0
// Integer expressions: extents (over symbols), index maps and Iota values (over coordinates and symbols).
// They are interned in a pool, in a normal form: equal ids mean equal expressions, and linear expressions that are
// equal have equal ids (sums are flattened, sorted, and like terms collected). Division floors, Mod has the sign of
// the divisor, as in Python; divisors must be positive for every value of the symbols.
//
//   Exprs exprs;
//   ExprId n = exprs.symbol("n_past", 0, 32767);
//   ExprId e = exprs.add(exprs.mul(exprs.coord(0), exprs.constant(256)), exprs.coord(1));   // c0*256 + c1
//   exprs.simplify(exprs.floor_div(e, exprs.constant(256)), ranges);                         // c0 if c1 in [0,256)
#pragma once

#include "luminal/base/ids.h"
#include "luminal/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace luminal::ir {

using ExprId = Id<struct ExprTag>;
using SymbolId = Id<struct SymbolTag>;

/// A closed interval of integers; empty when lo > hi. kUnbounded stands for no limit on a side.
struct Interval {
  static constexpr std::int64_t kUnbounded = std::int64_t{1} << 62;
  std::int64_t lo = -kUnbounded;
  std::int64_t hi = kUnbounded;
  bool single() const { return lo == hi; }
  bool empty() const { return lo > hi; }
  bool contains(std::int64_t value) const { return lo <= value && value <= hi; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

enum class ExprKind : std::uint8_t { Const, Symbol, Coord, Add, Mul, FloorDiv, Mod, Min, Max };

/// Const: value. Symbol, Coord: value is the symbol's or the axis' number. Others: a and b.
struct ExprNode {
  ExprKind kind = ExprKind::Const;
  std::int64_t value = 0;
  ExprId a, b;
  friend auto operator<=>(const ExprNode&, const ExprNode&) = default;
};

/// A named non-negative or bounded number that is known only when a program runs.
struct Symbol {
  std::string name;
  Interval range;
};

class Exprs {
 public:
  ExprId constant(std::int64_t value);
  ExprId coord(int axis);
  /// The symbol of that name. Made with the range at the first call; later calls must give the same range.
  ExprId symbol(std::string_view name, std::int64_t lo, std::int64_t hi);
  ExprId symbol(SymbolId id);
  std::optional<SymbolId> find_symbol(std::string_view name) const;

  ExprId add(ExprId a, ExprId b);
  ExprId sub(ExprId a, ExprId b);
  ExprId mul(ExprId a, ExprId b);
  ExprId floor_div(ExprId a, ExprId b);
  ExprId mod(ExprId a, ExprId b);
  ExprId min(ExprId a, ExprId b);
  ExprId max(ExprId a, ExprId b);
  /// ceil(a / b)
  ExprId ceil_div(ExprId a, ExprId b);
  /// The node of that kind; for parsers and rewriters. Const, Symbol and Coord take `value`.
  ExprId make(const ExprNode& node);

  const ExprNode& node(ExprId id) const { return nodes_[id]; }
  const Symbol& symbol_info(SymbolId id) const { return symbols_[id]; }
  std::size_t symbol_count() const { return symbols_.size(); }
  std::size_t size() const { return nodes_.size(); }

  std::optional<std::int64_t> as_constant(ExprId id) const;
  bool is_constant(ExprId id, std::int64_t value) const;
  /// True when no coordinate occurs: the expression can be an extent.
  bool is_uniform(ExprId id) const;
  bool depends_on_coord(ExprId id, int axis) const;
  /// One more than the greatest axis of a coordinate in the expression; 0 without any.
  int coords_used(ExprId id) const;

  /// A sum as constant + sum of coefficient * term; terms are products or other nodes, none a sum or a constant, in
  /// an order that depends on their structure alone (equal expressions of two pools print alike).
  struct Linear {
    std::int64_t constant = 0;
    std::vector<std::pair<ExprId, std::int64_t>> terms;
  };
  Linear linear(ExprId id) const;
  ExprId from_linear(const Linear& form);

  /// Bounds, from the symbols' ranges and the coordinates' ranges (coord k in coords[k]; unbounded if missing).
  Interval interval(ExprId id, std::span<const Interval> coords = {}) const;
  /// Narrower where min and max cancel against other terms: it takes each of their operands in turn.
  Interval tight_interval(ExprId id, std::span<const Interval> coords = {});
  /// 0 <= a - b for every value of symbols and coordinates, as far as interval arithmetic on the normal form proves.
  bool provably_le(ExprId b, ExprId a, std::span<const Interval> coords = {});
  /// 0 <= index < extent for all coordinates inside `shape`, whose extents may be symbolic: c0 + n - 1 - c1 is seen to
  /// be inside when c1 < n.
  bool provably_in_bounds(ExprId index, ExprId extent, std::span<const ExprId> shape);

  /// The same function with div, mod, min and max removed where the ranges decide them.
  ExprId simplify(ExprId id, std::span<const Interval> coords = {});
  /// Coord k becomes replacement[k]: composition of index maps.
  ExprId substitute(ExprId id, std::span<const ExprId> replacement);
  /// Symbols become the given expressions where valid (indexed by symbol number; shorter spans leave the rest).
  ExprId substitute_symbols(ExprId id, std::span<const ExprId> replacement);

  /// The value for given coordinates and symbols.
  std::int64_t evaluate(ExprId id, std::span<const std::int64_t> coords,
                        std::span<const std::int64_t> symbols) const;

  /// Text such as "c0*256 + c1 + n_past", which parse reads back to the same id.
  std::string print(ExprId id) const;
  /// Coordinates are c0, c1, ..; every other name must be a symbol that exists.
  Result<ExprId> parse(std::string_view text);

 private:
  ExprId intern(const ExprNode& node);
  int compare(ExprId a, ExprId b) const;
  ExprId multiply_terms(ExprId a, ExprId b);
  ExprId constant_div_mod(ExprId a, std::int64_t divisor, bool want_mod);
  ExprId symbolic_div_mod(ExprId a, ExprId b, bool want_mod, std::span<const Interval> coords);
  ExprId simplify_div_mod(ExprId a, ExprId b, bool want_mod, std::span<const Interval> coords);
  ExprId least_over(ExprId id, std::span<const ExprId> shape, bool greatest);
  std::vector<ExprId> reachable(ExprId id) const;
  ExprId replace(ExprId id, ExprId part, ExprId by);
  template <class Leaf>
  ExprId rebuild(ExprId id, const Leaf& leaf);
  Store<ExprId, ExprNode> nodes_;
  Store<SymbolId, Symbol> symbols_;
  std::map<ExprNode, ExprId> ids_;
};

/// Ranges [0, extent-1] of the coordinates of a shape.
std::vector<Interval> coord_ranges(const Exprs& exprs, std::span<const ExprId> shape);

}  // namespace luminal::ir
