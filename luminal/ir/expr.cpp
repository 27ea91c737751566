// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/expr.h"

#include <algorithm>
#include <numeric>

namespace luminal::ir {
namespace {

constexpr std::int64_t kLimit = Interval::kUnbounded;

std::int64_t clamp_wide(__int128 value) {
  return static_cast<std::int64_t>(std::clamp<__int128>(value, -kLimit, kLimit));
}
std::int64_t add_constants(std::int64_t a, std::int64_t b) {
  return clamp_wide(static_cast<__int128>(a) + b);
}
std::int64_t mul_constants(std::int64_t a, std::int64_t b) {
  return clamp_wide(static_cast<__int128>(a) * b);
}

std::int64_t floor_div_constants(std::int64_t a, std::int64_t b) {
  LUM_CHECK(b > 0, "divisor ", b, " of an index expression");
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
std::int64_t mod_constants(std::int64_t a, std::int64_t b) {
  return a - floor_div_constants(a, b) * b;
}

}  // namespace

ExprId Exprs::intern(const ExprNode& node) {
  const auto [place, added] = ids_.try_emplace(node, ExprId());
  if (added) place->second = nodes_.push(node);
  return place->second;
}

ExprId Exprs::constant(std::int64_t value) {
  return intern({ExprKind::Const, std::clamp(value, -kLimit, kLimit), {}, {}});
}

ExprId Exprs::coord(int axis) { return intern({ExprKind::Coord, axis, {}, {}}); }

ExprId Exprs::symbol(SymbolId id) {
  LUM_CHECK(symbols_.contains(id));
  return intern({ExprKind::Symbol, id.index, {}, {}});
}

ExprId Exprs::symbol(std::string_view name, std::int64_t lo, std::int64_t hi) {
  const Interval range{lo, hi};
  if (const auto known = find_symbol(name)) {
    LUM_CHECK(symbols_[*known].range == range, "symbol ", name, " has another range already");
    return symbol(*known);
  }
  return symbol(symbols_.push({std::string(name), range}));
}

std::optional<SymbolId> Exprs::find_symbol(std::string_view name) const {
  for (std::size_t k = 0; k < symbols_.size(); ++k)
    if (symbols_[SymbolId(k)].name == name) return SymbolId(k);
  return std::nullopt;
}

std::optional<std::int64_t> Exprs::as_constant(ExprId id) const {
  const ExprNode& node = nodes_[id];
  if (node.kind != ExprKind::Const) return std::nullopt;
  return node.value;
}

bool Exprs::is_constant(ExprId id, std::int64_t value) const { return as_constant(id) == value; }

std::vector<ExprId> Exprs::reachable(ExprId id) const {
  std::vector<ExprId> found, open = {id};
  while (!open.empty()) {
    const ExprId next = open.back();
    open.pop_back();
    found.push_back(next);
    const ExprNode& node = nodes_[next];
    if (node.a.valid()) open.push_back(node.a);
    if (node.b.valid()) open.push_back(node.b);
    if (found.size() > 4 * nodes_.size()) {  // shared parts: drop repeats before they multiply
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
  }
  std::sort(found.begin(), found.end());  // operands have lower ids
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

int Exprs::coords_used(ExprId id) const {
  std::int64_t count = 0;
  for (ExprId part : reachable(id))
    if (nodes_[part].kind == ExprKind::Coord) count = std::max(count, nodes_[part].value + 1);
  return static_cast<int>(count);
}

bool Exprs::is_uniform(ExprId id) const { return coords_used(id) == 0; }

bool Exprs::depends_on_coord(ExprId id, int axis) const {
  for (ExprId part : reachable(id))
    if (nodes_[part].kind == ExprKind::Coord && nodes_[part].value == axis) return true;
  return false;
}

// Coordinates, then symbols by name, then the rest by kind and operands.
int Exprs::compare(ExprId a, ExprId b) const {
  std::vector<std::pair<ExprId, ExprId>> open = {{a, b}};
  const auto rank = [](ExprKind kind) {
    if (kind == ExprKind::Coord) return 0;
    return kind == ExprKind::Symbol ? 1 : 2 + static_cast<int>(kind);
  };
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    if (left == right) continue;
    const ExprNode& x = nodes_[left];
    const ExprNode& y = nodes_[right];
    if (x.kind != y.kind) return rank(x.kind) < rank(y.kind) ? -1 : 1;
    if (x.kind == ExprKind::Symbol)
      return symbol_info(SymbolId(static_cast<std::size_t>(x.value))).name <
                     symbol_info(SymbolId(static_cast<std::size_t>(y.value))).name
                 ? -1
                 : 1;
    if (x.kind == ExprKind::Coord || x.kind == ExprKind::Const) return x.value < y.value ? -1 : 1;
    open.push_back({x.b, y.b});
    open.push_back({x.a, y.a});
  }
  return 0;
}

Exprs::Linear Exprs::linear(ExprId id) const {
  Linear form;
  std::vector<ExprId> open = {id};
  while (!open.empty()) {
    const ExprId next = open.back();
    open.pop_back();
    const ExprNode& node = nodes_[next];
    if (node.kind == ExprKind::Add) {
      open.push_back(node.b);
      open.push_back(node.a);
    } else if (node.kind == ExprKind::Const) {
      form.constant = add_constants(form.constant, node.value);
    } else if (node.kind == ExprKind::Mul && nodes_[node.b].kind == ExprKind::Const) {
      form.terms.emplace_back(node.a, nodes_[node.b].value);
    } else {
      form.terms.emplace_back(next, 1);
    }
  }
  return form;
}

ExprId Exprs::from_linear(const Linear& form) {
  auto terms = form.terms;
  std::sort(terms.begin(), terms.end(),
            [&](const auto& x, const auto& y) { return compare(x.first, y.first) < 0; });
  ExprId sum;
  const auto append = [&](ExprId part) {
    sum = sum.valid() ? intern({ExprKind::Add, 0, sum, part}) : part;
  };
  for (std::size_t first = 0; first < terms.size();) {
    std::int64_t factor = 0;
    std::size_t last = first;
    for (; last < terms.size() && terms[last].first == terms[first].first; ++last)
      factor = add_constants(factor, terms[last].second);
    const ExprId term = terms[first].first;
    if (factor == 1) append(term);
    if (factor != 0 && factor != 1) append(intern({ExprKind::Mul, 0, term, constant(factor)}));
    first = last;
  }
  if (form.constant != 0 || !sum.valid()) append(constant(form.constant));
  return sum;
}

ExprId Exprs::add(ExprId a, ExprId b) {
  Linear form = linear(a);
  const Linear other = linear(b);
  form.constant = add_constants(form.constant, other.constant);
  form.terms.insert(form.terms.end(), other.terms.begin(), other.terms.end());
  return from_linear(form);
}

ExprId Exprs::sub(ExprId a, ExprId b) { return add(a, mul(b, constant(-1))); }

// The product of two terms: factors in order, in a chain to the left.
ExprId Exprs::multiply_terms(ExprId a, ExprId b) {
  std::vector<ExprId> factors;
  for (ExprId term : {a, b}) {
    while (nodes_[term].kind == ExprKind::Mul) {
      factors.push_back(nodes_[term].b);
      term = nodes_[term].a;
    }
    factors.push_back(term);
  }
  std::sort(factors.begin(), factors.end(), [&](ExprId x, ExprId y) { return compare(x, y) < 0; });
  ExprId product = factors[0];
  for (std::size_t k = 1; k < factors.size(); ++k)
    product = intern({ExprKind::Mul, 0, product, factors[k]});
  return product;
}

ExprId Exprs::mul(ExprId a, ExprId b) {
  const Linear x = linear(a), y = linear(b);
  Linear product;
  product.constant = mul_constants(x.constant, y.constant);
  for (const auto& [term, factor] : x.terms)
    if (y.constant != 0) product.terms.emplace_back(term, mul_constants(factor, y.constant));
  for (const auto& [term, factor] : y.terms)
    if (x.constant != 0) product.terms.emplace_back(term, mul_constants(factor, x.constant));
  for (const auto& [left, left_factor] : x.terms)
    for (const auto& [right, right_factor] : y.terms)
      product.terms.emplace_back(multiply_terms(left, right),
                                 mul_constants(left_factor, right_factor));
  return from_linear(product);
}

// a / d and a mod d for a constant d > 0: multiples of d leave, what is left is divided by its common factor with d.
ExprId Exprs::constant_div_mod(ExprId a, std::int64_t divisor, bool want_mod) {
  const Linear form = linear(a);
  Linear whole, rest;
  whole.constant = floor_div_constants(form.constant, divisor);
  rest.constant = mod_constants(form.constant, divisor);
  std::int64_t common = divisor;
  for (const auto& [term, factor] : form.terms) {
    if (factor % divisor == 0) {
      whole.terms.emplace_back(term, factor / divisor);
    } else {
      rest.terms.emplace_back(term, factor);
      common = std::gcd(common, factor);
    }
  }
  if (rest.terms.empty()) return want_mod ? constant(rest.constant) : from_linear(whole);
  const std::int64_t remainder = rest.constant % common;
  if (common > 1) {
    rest.constant /= common;
    for (auto& [term, factor] : rest.terms) factor /= common;
    divisor /= common;
  }
  // Here divisor > 1: terms with a multiple of it as factor have left.
  const ExprId inner = from_linear(rest);
  const ExprNode node = nodes_[inner];
  if (want_mod) {
    ExprId base = inner;
    if (node.kind == ExprKind::Mod && as_constant(node.b).value_or(1) % divisor == 0) base = node.a;
    const ExprId reduced = base == inner
                               ? intern({ExprKind::Mod, 0, inner, constant(divisor)})
                               : constant_div_mod(base, divisor, true);
    return add(mul(reduced, constant(common)), constant(remainder));
  }
  ExprId quotient;
  if (node.kind == ExprKind::FloorDiv && as_constant(node.b))
    quotient = constant_div_mod(node.a, mul_constants(divisor, *as_constant(node.b)), false);
  else
    quotient = intern({ExprKind::FloorDiv, 0, inner, constant(divisor)});
  return add(from_linear(whole), quotient);
}

// Division by a term that is not constant: the terms that hold it as a factor leave.
ExprId Exprs::symbolic_div_mod(ExprId a, ExprId b, bool want_mod,
                               std::span<const Interval> coords) {
  const Linear form = linear(a);
  Linear whole, rest;
  rest.constant = form.constant;
  for (const auto& [term, factor] : form.terms) {
    std::vector<ExprId> factors;
    ExprId chain = term;
    while (nodes_[chain].kind == ExprKind::Mul) {
      factors.push_back(nodes_[chain].b);
      chain = nodes_[chain].a;
    }
    factors.push_back(chain);
    const auto found = std::find(factors.begin(), factors.end(), b);
    if (term == b) {
      whole.constant = add_constants(whole.constant, factor);
    } else if (found != factors.end()) {
      factors.erase(found);
      ExprId others = factors[0];
      for (std::size_t k = 1; k < factors.size(); ++k) others = multiply_terms(others, factors[k]);
      whole.terms.emplace_back(others, factor);
    } else {
      rest.terms.emplace_back(term, factor);
    }
  }
  const ExprId left = from_linear(rest);
  const bool inside = provably_le(constant(0), left, coords) &&
                      provably_le(add(left, constant(1)), b, coords);
  if (want_mod) return inside ? left : intern({ExprKind::Mod, 0, left, b});
  if (inside) return from_linear(whole);
  return add(from_linear(whole), intern({ExprKind::FloorDiv, 0, left, b}));
}

ExprId Exprs::floor_div(ExprId a, ExprId b) {
  if (const auto divisor = as_constant(b)) return constant_div_mod(a, *divisor, false);
  return symbolic_div_mod(a, b, false, {});
}

ExprId Exprs::mod(ExprId a, ExprId b) {
  if (const auto divisor = as_constant(b)) return constant_div_mod(a, *divisor, true);
  return symbolic_div_mod(a, b, true, {});
}

ExprId Exprs::ceil_div(ExprId a, ExprId b) {
  return floor_div(add(a, sub(b, constant(1))), b);
}

ExprId Exprs::min(ExprId a, ExprId b) {
  if (a == b) return a;
  if (const auto difference = as_constant(sub(a, b))) return *difference <= 0 ? a : b;
  if (compare(b, a) < 0) std::swap(a, b);
  return intern({ExprKind::Min, 0, a, b});
}

ExprId Exprs::max(ExprId a, ExprId b) {
  if (a == b) return a;
  if (const auto difference = as_constant(sub(a, b))) return *difference >= 0 ? a : b;
  if (compare(b, a) < 0) std::swap(a, b);
  return intern({ExprKind::Max, 0, a, b});
}

ExprId Exprs::make(const ExprNode& node) {
  switch (node.kind) {
    case ExprKind::Const: return constant(node.value);
    case ExprKind::Symbol: return symbol(SymbolId(static_cast<std::size_t>(node.value)));
    case ExprKind::Coord: return coord(static_cast<int>(node.value));
    case ExprKind::Add: return add(node.a, node.b);
    case ExprKind::Mul: return mul(node.a, node.b);
    case ExprKind::FloorDiv: return floor_div(node.a, node.b);
    case ExprKind::Mod: return mod(node.a, node.b);
    case ExprKind::Min: return min(node.a, node.b);
    case ExprKind::Max: return max(node.a, node.b);
  }
  return node.a;
}

template <class Leaf>
ExprId Exprs::rebuild(ExprId id, const Leaf& leaf) {
  std::map<ExprId, ExprId> made;
  for (ExprId part : reachable(id)) {
    ExprNode node = nodes_[part];
    if (node.a.valid()) {
      node.a = made.at(node.a);
      node.b = made.at(node.b);
      made[part] = make(node);
    } else {
      made[part] = leaf(part, node);
    }
  }
  return made.at(id);
}

ExprId Exprs::substitute(ExprId id, std::span<const ExprId> replacement) {
  return rebuild(id, [&](ExprId part, const ExprNode& node) {
    if (node.kind != ExprKind::Coord) return part;
    LUM_CHECK(static_cast<std::size_t>(node.value) < replacement.size(), "coordinate c", node.value,
              " has no replacement");
    return replacement[static_cast<std::size_t>(node.value)];
  });
}

ExprId Exprs::substitute_symbols(ExprId id, std::span<const ExprId> replacement) {
  return rebuild(id, [&](ExprId part, const ExprNode& node) {
    const auto number = static_cast<std::size_t>(node.value);
    const bool replaced = node.kind == ExprKind::Symbol && number < replacement.size() &&
                          replacement[number].valid();
    return replaced ? replacement[number] : part;
  });
}

std::int64_t Exprs::evaluate(ExprId id, std::span<const std::int64_t> coords,
                             std::span<const std::int64_t> symbols) const {
  const ExprNode& node = nodes_[id];
  switch (node.kind) {
    case ExprKind::Const: return node.value;
    case ExprKind::Symbol: return symbols[static_cast<std::size_t>(node.value)];
    case ExprKind::Coord: return coords[static_cast<std::size_t>(node.value)];
    default: break;
  }
  // Depth is that of the expression, which parse() bounds and builders keep small.
  const std::int64_t a = evaluate(node.a, coords, symbols);
  const std::int64_t b = evaluate(node.b, coords, symbols);
  switch (node.kind) {
    case ExprKind::Add: return a + b;
    case ExprKind::Mul: return a * b;
    case ExprKind::FloorDiv: return floor_div_constants(a, b);
    case ExprKind::Mod: return mod_constants(a, b);
    case ExprKind::Min: return std::min(a, b);
    default: return std::max(a, b);
  }
}

// ---- Ranges

namespace {

Interval over(__int128 lo, __int128 hi) { return {clamp_wide(lo), clamp_wide(hi)}; }

Interval multiply(const Interval& a, const Interval& b) {
  const __int128 corners[] = {static_cast<__int128>(a.lo) * b.lo, static_cast<__int128>(a.lo) * b.hi,
                              static_cast<__int128>(a.hi) * b.lo,
                              static_cast<__int128>(a.hi) * b.hi};
  return over(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
}

std::int64_t divide_bound(std::int64_t a, std::int64_t b) {
  if (a <= -kLimit || a >= kLimit) return a;
  return floor_div_constants(a, b);
}

Interval divide(const Interval& a, const Interval& b) {
  if (b.lo < 1) return {};  // the divisor is positive, so all that is known is |a|'s bound
  return {std::min(divide_bound(a.lo, b.lo), divide_bound(a.lo, b.hi)),
          std::max(divide_bound(a.hi, b.lo), divide_bound(a.hi, b.hi))};
}

Interval remainder(const Interval& a, const Interval& b) {
  if (a.lo >= 0 && a.hi < std::max<std::int64_t>(b.lo, 1)) return a;
  Interval range{0, std::max<std::int64_t>(b.hi - 1, 0)};
  if (a.lo >= 0) range.hi = std::min(range.hi, a.hi);
  return range;
}

Interval combine(ExprKind kind, const Interval& a, const Interval& b) {
  switch (kind) {
    case ExprKind::Add:
      return over(static_cast<__int128>(a.lo) + b.lo, static_cast<__int128>(a.hi) + b.hi);
    case ExprKind::Mul: return multiply(a, b);
    case ExprKind::FloorDiv: return divide(a, b);
    case ExprKind::Mod: return remainder(a, b);
    case ExprKind::Min: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    default: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
}

}  // namespace

Interval Exprs::interval(ExprId id, std::span<const Interval> coords) const {
  std::map<ExprId, Interval> known;
  for (ExprId part : reachable(id)) {
    const ExprNode& node = nodes_[part];
    Interval& range = known[part];
    if (node.kind == ExprKind::Const) {
      range = {node.value, node.value};
    } else if (node.kind == ExprKind::Symbol) {
      range = symbols_[SymbolId(static_cast<std::size_t>(node.value))].range;
    } else if (node.kind == ExprKind::Coord) {
      const auto axis = static_cast<std::size_t>(node.value);
      if (axis < coords.size()) range = coords[axis];
    } else {
      range = combine(node.kind, known[node.a], known[node.b]);
    }
  }
  return known[id];
}

ExprId Exprs::replace(ExprId id, ExprId part, ExprId by) {
  std::map<ExprId, ExprId> made;
  for (ExprId next : reachable(id)) {
    ExprNode node = nodes_[next];
    if (next != part && node.a.valid()) {
      node.a = made.at(node.a);
      node.b = made.at(node.b);
      made[next] = make(node);
    } else {
      made[next] = next == part ? by : next;
    }
  }
  return made.at(id);
}

// min(a, b) is a or b, so the value lies in the range with the one or in that with the other.
Interval Exprs::tight_interval(ExprId id, std::span<const Interval> coords) {
  constexpr std::size_t kMostCases = 64;
  std::vector<ExprId> open = {id}, done;
  while (!open.empty()) {
    const ExprId next = open.back();
    open.pop_back();
    ExprId choice;
    for (ExprId part : reachable(next))
      if (nodes_[part].kind == ExprKind::Min || nodes_[part].kind == ExprKind::Max) choice = part;
    if (!choice.valid() || open.size() + done.size() >= kMostCases) {
      done.push_back(next);
      continue;
    }
    const ExprNode node = nodes_[choice];
    open.push_back(replace(next, choice, node.a));
    open.push_back(replace(next, choice, node.b));
  }
  Interval hull = interval(done[0], coords);
  for (ExprId each : done) {
    const Interval range = interval(each, coords);
    hull = {std::min(hull.lo, range.lo), std::max(hull.hi, range.hi)};
  }
  const Interval plain = interval(id, coords);
  return {std::max(hull.lo, plain.lo), std::min(hull.hi, plain.hi)};
}

bool Exprs::provably_le(ExprId b, ExprId a, std::span<const Interval> coords) {
  const ExprId difference = sub(a, b);
  return interval(difference, coords).lo >= 0 || tight_interval(difference, coords).lo >= 0;
}

// A lower (or upper) bound of a sum over the coordinates inside `shape`: in terms that grow or fall with a coordinate,
// which are the coordinate times a factor of one sign, it takes its first or last value.
ExprId Exprs::least_over(ExprId id, std::span<const ExprId> shape, bool greatest) {
  ExprId bound = id;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const ExprId coord_id = coord(static_cast<int>(axis));
    const Linear form = linear(bound);
    const ExprId last = sub(shape[axis], constant(1));
    ExprId sum = constant(form.constant);
    for (const auto& [term, factor] : form.terms) {
      ExprId part = mul(term, constant(factor));
      std::vector<ExprId> others;
      int uses = 0;
      for (ExprId chain = term; chain.valid();) {
        const bool product = nodes_[chain].kind == ExprKind::Mul;
        const ExprId head = product ? nodes_[chain].b : chain;
        if (head == coord_id)
          ++uses;
        else
          others.push_back(head);
        chain = product ? nodes_[chain].a : ExprId();
      }
      ExprId rest = constant(factor);
      for (ExprId other : others) rest = mul(rest, other);
      if (uses == 1 && is_uniform(rest)) {
        const Interval sign = interval(rest);
        if (sign.lo >= 0) part = greatest ? mul(rest, last) : constant(0);
        if (sign.hi <= 0) part = greatest ? constant(0) : mul(rest, last);
      }
      sum = add(sum, part);
    }
    bound = sum;
  }
  return bound;
}

bool Exprs::provably_in_bounds(ExprId index, ExprId extent, std::span<const ExprId> shape) {
  const std::vector<Interval> ranges = coord_ranges(*this, shape);
  for (const Interval& range : ranges)
    if (range.empty()) return true;  // no coordinates at all
  // Simplified or not: a range decides more of the one, a symbolic extent cancels in the other.
  const auto never_negative = [&](ExprId id) {
    for (ExprId form : {id, simplify(id, ranges)})
      if (interval(form, ranges).lo >= 0 || tight_interval(form, ranges).lo >= 0 ||
          tight_interval(least_over(form, shape, false), ranges).lo >= 0)
        return true;
    return false;
  };
  const ExprId room = sub(sub(extent, constant(1)), index);
  return never_negative(index) && never_negative(room);
}

// With ranges more leaves a division: (32*x + y) / 128 with y in [0, 32) is x / 4, and its remainder 32*(x mod 4) + y.
ExprId Exprs::simplify_div_mod(ExprId a, ExprId b, bool want_mod,
                               std::span<const Interval> coords) {
  const auto divisor = as_constant(b);
  if (!divisor) return symbolic_div_mod(a, b, want_mod, coords);
  const std::int64_t d = *divisor;
  const Interval range = interval(a, coords);
  if (range.empty()) return constant(0);
  const bool bounded = range.lo > -kLimit && range.hi < kLimit;
  if (bounded && floor_div_constants(range.lo, d) == floor_div_constants(range.hi, d)) {
    const std::int64_t quotient = floor_div_constants(range.lo, d);
    return want_mod ? add(a, constant(-mul_constants(quotient, d))) : constant(quotient);
  }
  const Linear form = linear(a);
  std::vector<std::int64_t> steps;
  for (const auto& [term, factor] : form.terms) steps.push_back(std::gcd(factor, d));
  std::sort(steps.rbegin(), steps.rend());
  for (std::int64_t step : steps) {
    if (step <= 1) continue;
    Linear coarse, fine;
    coarse.constant = floor_div_constants(form.constant, step);
    fine.constant = mod_constants(form.constant, step);
    for (const auto& [term, factor] : form.terms)
      if (factor % step == 0)
        coarse.terms.emplace_back(term, factor / step);
      else
        fine.terms.emplace_back(term, factor);
    const ExprId fine_id = from_linear(fine);
    const Interval fine_range = interval(fine_id, coords);
    if (step == d && !coarse.terms.empty() && fine_range.hi >= step) {  // whole multiples leave
      const ExprId rest = simplify_div_mod(fine_id, b, want_mod, coords);
      return want_mod ? rest : add(from_linear(coarse), rest);
    }
    if (coarse.terms.empty() || fine_range.lo < 0 || fine_range.hi >= step) continue;
    if (fine.terms.empty() && step != d && fine.constant == 0) continue;  // a common factor
    const ExprId reduced =
        simplify_div_mod(from_linear(coarse), constant(d / step), want_mod, coords);
    return want_mod ? add(mul(reduced, constant(step)), fine_id) : reduced;
  }
  return constant_div_mod(a, d, want_mod);
}

ExprId Exprs::simplify(ExprId id, std::span<const Interval> coords) {
  std::map<ExprId, ExprId> made;
  for (ExprId part : reachable(id)) {
    ExprNode node = nodes_[part];
    ExprId result = part;
    if (node.a.valid()) {
      node.a = made.at(node.a);
      node.b = made.at(node.b);
      const bool division = node.kind == ExprKind::FloorDiv || node.kind == ExprKind::Mod;
      const bool choice = node.kind == ExprKind::Min || node.kind == ExprKind::Max;
      if (division) {
        result = simplify_div_mod(node.a, node.b, node.kind == ExprKind::Mod, coords);
      } else if (choice && provably_le(node.a, node.b, coords)) {
        result = node.kind == ExprKind::Min ? node.a : node.b;
      } else if (choice && provably_le(node.b, node.a, coords)) {
        result = node.kind == ExprKind::Min ? node.b : node.a;
      } else {
        result = make(node);
      }
    }
    const Interval range = interval(result, coords);
    made[part] = range.single() ? constant(range.lo) : result;
  }
  return made.at(id);
}

std::vector<Interval> coord_ranges(const Exprs& exprs, std::span<const ExprId> shape) {
  std::vector<Interval> ranges;
  for (ExprId extent : shape) ranges.push_back({0, exprs.interval(extent).hi - 1});
  return ranges;
}

}  // namespace luminal::ir
