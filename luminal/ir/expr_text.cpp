// SPDX-License-Identifier: MIT OR Apache-2.0
// Text of integer expressions: + - * // % min(a, b) max(a, b), as in Python.
#include "luminal/ir/expr.h"

#include <cctype>
#include <charconv>

namespace luminal::ir {
namespace {

constexpr int kMaxDepth = 200;

// Precedence of the text: 0 a sum, 1 a product, 2 an atom.
struct Text {
  std::string text;
  int precedence = 2;
};

std::string wrapped(const Text& part, int least) {
  return part.precedence < least ? "(" + part.text + ")" : part.text;
}

class Parser {
 public:
  Parser(Exprs& exprs, std::string_view text) : exprs_(exprs), text_(text) {}

  Result<ExprId> whole() {
    LUM_ASSIGN_OR_RETURN(const ExprId id, sum());
    skip();
    if (at_ < text_.size()) return failure("unexpected text");
    return id;
  }

 private:
  Error failure(const char* what) const {
    return error("expression '", text_, "': ", what, " at character ", at_ + 1);
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  Result<ExprId> sum() {
    if (++depth_ > kMaxDepth) return failure("too deeply nested");
    LUM_ASSIGN_OR_RETURN(ExprId left, product());
    while (true) {
      const bool minus = take("-");
      if (!minus && !take("+")) break;
      LUM_ASSIGN_OR_RETURN(const ExprId right, product());
      left = minus ? exprs_.sub(left, right) : exprs_.add(left, right);
    }
    --depth_;
    return left;
  }

  Result<ExprId> product() {
    LUM_ASSIGN_OR_RETURN(ExprId left, atom());
    while (true) {
      const bool times = take("*");
      const bool divide = !times && take("//");
      if (!times && !divide && !take("%")) return left;
      LUM_ASSIGN_OR_RETURN(const ExprId right, atom());
      if (times) {
        left = exprs_.mul(left, right);
        continue;
      }
      if (exprs_.interval(right).lo < 1) return failure("the divisor must be at least 1, before");
      left = divide ? exprs_.floor_div(left, right) : exprs_.mod(left, right);
    }
  }

  Result<ExprId> choice(bool least) {
    if (!take("(")) return failure("expected '('");
    LUM_ASSIGN_OR_RETURN(const ExprId a, sum());
    if (!take(",")) return failure("expected ','");
    LUM_ASSIGN_OR_RETURN(const ExprId b, sum());
    if (!take(")")) return failure("expected ')'");
    return least ? exprs_.min(a, b) : exprs_.max(a, b);
  }

  Result<ExprId> number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc() || value > Interval::kUnbounded) return failure("number out of range");
    at_ += static_cast<std::size_t>(end - begin);
    return exprs_.constant(value);
  }

  Result<ExprId> atom() {
    if (++depth_ > kMaxDepth) return failure("too deeply nested");
    skip();
    LUM_ASSIGN_OR_RETURN(const ExprId id, unguarded_atom());
    --depth_;
    return id;
  }

  Result<ExprId> unguarded_atom() {
    if (take("(")) {
      LUM_ASSIGN_OR_RETURN(const ExprId inner, sum());
      if (!take(")")) return failure("expected ')'");
      return inner;
    }
    if (take("-")) {
      LUM_ASSIGN_OR_RETURN(const ExprId inner, atom());
      return exprs_.mul(inner, exprs_.constant(-1));
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      return number();
    return name();
  }

  Result<ExprId> name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return failure("expected a number, a name or '('");
    if (word == "min" || word == "max") return choice(word == "min");
    if (word.size() > 1 && word.size() < 6 && word[0] == 'c' &&
        word.find_first_not_of("0123456789", 1) == std::string_view::npos) {
      int axis = 0;
      std::from_chars(word.data() + 1, word.data() + word.size(), axis);
      return exprs_.coord(axis);
    }
    const auto symbol = exprs_.find_symbol(word);
    if (!symbol) return error("expression '", text_, "': no symbol '", word, "' is declared");
    return exprs_.symbol(*symbol);
  }

  Exprs& exprs_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string Exprs::print(ExprId id) const {
  std::map<ExprId, Text> texts;
  for (ExprId part : reachable(id)) {
    const ExprNode& node = nodes_[part];
    const auto of = [&](ExprId operand) -> const Text& { return texts.at(operand); };
    Text made;
    switch (node.kind) {
      case ExprKind::Const:
        made = {std::to_string(node.value), node.value < 0 ? 0 : 2};
        break;
      case ExprKind::Coord: made.text = cat("c", node.value); break;
      case ExprKind::Symbol:
        made.text = symbols_[SymbolId(static_cast<std::size_t>(node.value))].name;
        break;
      case ExprKind::Add: {
        const std::string& right = of(node.b).text;
        const bool minus = right[0] == '-';
        made = {cat(of(node.a).text, minus ? " - " : " + ", minus ? right.substr(1) : right), 0};
        break;
      }
      case ExprKind::Mul: {
        // A negative factor goes first, so that a sum prints it as a subtraction.
        const auto factor = as_constant(node.b);
        if (factor && *factor < 0) {
          const std::string times = *factor == -1 ? "" : cat("*", -*factor);
          made = {cat("-", wrapped(of(node.a), 2), times), 0};
        } else {
          made = {cat(wrapped(of(node.a), 1), "*", wrapped(of(node.b), 2)), 1};
        }
        break;
      }
      case ExprKind::FloorDiv:
        made = {cat(wrapped(of(node.a), 1), "//", wrapped(of(node.b), 2)), 1};
        break;
      case ExprKind::Mod:
        made = {cat(wrapped(of(node.a), 1), "%", wrapped(of(node.b), 2)), 1};
        break;
      default:
        made.text = cat(node.kind == ExprKind::Min ? "min(" : "max(", of(node.a).text, ", ",
                        of(node.b).text, ")");
    }
    texts[part] = std::move(made);
  }
  return texts.at(id).text;
}

Result<ExprId> Exprs::parse(std::string_view text) { return Parser(*this, text).whole(); }

}  // namespace luminal::ir
