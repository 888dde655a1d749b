// A recursive-descent parser that checks kinds (number, text, truth) on the way, so that a program
// which parses can be run on any point without a second look.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "spec/constraint_lexer.h"
#include "spec/constraint_program.h"
#include "spec/sweep_text.h"

namespace berth {
namespace {

enum class ValueKind { Number, Text, Truth };

struct BinaryOp {
  std::string_view symbol;
  ConstraintOp op;
};

constexpr std::array kCompare = {
    BinaryOp{"==", ConstraintOp::Equal},     BinaryOp{"!=", ConstraintOp::NotEqual},
    BinaryOp{"<=", ConstraintOp::LessEqual}, BinaryOp{">=", ConstraintOp::GreaterEqual},
    BinaryOp{"<", ConstraintOp::Less},       BinaryOp{">", ConstraintOp::Greater},
};
constexpr std::array kAdd = {BinaryOp{"+", ConstraintOp::Add},
                             BinaryOp{"-", ConstraintOp::Subtract}};
constexpr std::array kTimes = {BinaryOp{"*", ConstraintOp::Multiply},
                               BinaryOp{"/", ConstraintOp::Divide},
                               BinaryOp{"%", ConstraintOp::Modulo}};
constexpr std::array kAnd = {BinaryOp{"&&", ConstraintOp::And}};
constexpr std::array kOr = {BinaryOp{"||", ConstraintOp::Or}};

// Deeper than anyone writes, and far from the end of the stack.
constexpr int kMostNesting = 100;

class ConstraintParser {
 public:
  ConstraintParser(std::string_view text, std::span<const Param> params)
      : lexer_(text), params_(params) {}

  Result<ConstraintProgram> parse() {
    if (const auto first = advance(); !first) {
      return Failure(first.error());
    }
    const std::size_t offset = token_.offset;
    const Result<ValueKind> kind = disjunction();
    if (!kind) {
      return Failure(kind.error());
    }
    if (token_.kind != ConstraintTokenKind::End) {
      return is_comparison() ? lexer_.error(token_.offset,
                                            "comparisons cannot be chained: join them with 'and'")
                             : lexer_.error(token_.offset, "the condition should have ended here");
    }
    if (*kind != ValueKind::Truth) {
      return lexer_.error(offset, "this is a value, not a condition: compare it with something");
    }
    return std::move(program_);
  }

 private:
  using Level = Result<ValueKind> (ConstraintParser::*)();

  Result<void> advance() {
    const Result<ConstraintToken> token = lexer_.next();
    if (!token) {
      return Failure(token.error());
    }
    token_ = *token;
    return {};
  }

  void emit(ConstraintOp op, double number = 0, std::size_t index = 0) {
    program_.steps.push_back({op, number, index});
  }

  const BinaryOp* current_of(std::span<const BinaryOp> ops) const {
    const auto found = std::find_if(ops.begin(), ops.end(),
                                    [this](const BinaryOp& op) { return token_.is(op.symbol); });
    return found == ops.end() ? nullptr : &*found;
  }

  bool is_comparison() const { return current_of(kCompare) != nullptr || token_.is("in"); }

  /// `operand (op operand)*`, all operands and the outcome of one kind.
  Result<ValueKind> chain(std::span<const BinaryOp> ops, Level operand, ValueKind kind,
                          std::string_view needs) {
    Result<ValueKind> left = (this->*operand)();
    while (left) {
      const BinaryOp* op = current_of(ops);
      if (op == nullptr) {
        return left;
      }
      const std::size_t offset = token_.offset;
      if (const auto good = advance(); !good) {
        return Failure(good.error());
      }
      Result<ValueKind> right = (this->*operand)();
      if (!right) {
        return right;
      }
      if (*left != kind || *right != kind) {
        return lexer_.error(offset, fmt::format("'{}' needs {} on both sides", op->symbol, needs));
      }
      emit(op->op);
    }
    return left;
  }

  Result<ValueKind> disjunction() {
    return chain(kOr, &ConstraintParser::conjunction, ValueKind::Truth, "conditions");
  }
  Result<ValueKind> conjunction() {
    return chain(kAnd, &ConstraintParser::negation, ValueKind::Truth, "conditions");
  }
  Result<ValueKind> sum() {
    return chain(kAdd, &ConstraintParser::product, ValueKind::Number, "numbers");
  }
  Result<ValueKind> product() {
    return chain(kTimes, &ConstraintParser::signed_value, ValueKind::Number, "numbers");
  }

  Result<ValueKind> negation() {
    if (token_.is("!")) {
      return prefixed(&ConstraintParser::negation, ValueKind::Truth, ConstraintOp::Not,
                      "'not' needs a condition");
    }
    return comparison();
  }

  Result<ValueKind> signed_value() {
    if (token_.is("-")) {
      return prefixed(&ConstraintParser::signed_value, ValueKind::Number, ConstraintOp::Negate,
                      "'-' needs a number");
    }
    return primary();
  }

  Result<ValueKind> prefixed(Level operand, ValueKind kind, ConstraintOp op,
                             std::string_view complaint) {
    const std::size_t offset = token_.offset;
    if (const auto good = advance(); !good) {
      return Failure(good.error());
    }
    Result<ValueKind> found = nested(operand);
    if (!found) {
      return found;
    }
    if (*found != kind) {
      return lexer_.error(offset, complaint);
    }
    emit(op);
    return kind;
  }

  Result<ValueKind> nested(Level level) {
    if (nesting_ == kMostNesting) {
      return lexer_.error(token_.offset, "nested too deeply");
    }
    ++nesting_;
    Result<ValueKind> kind = (this->*level)();
    --nesting_;
    return kind;
  }

  Result<ValueKind> comparison() {
    Result<ValueKind> left = sum();
    if (!left) {
      return left;
    }
    const std::size_t offset = token_.offset;
    const BinaryOp* op = current_of(kCompare);
    const bool negated = token_.is("!");
    if (op == nullptr && !negated && !token_.is("in")) {
      return left;
    }
    if (const auto good = advance(); !good) {
      return Failure(good.error());
    }
    if (op == nullptr) {
      return membership(*left, offset, negated);
    }
    Result<ValueKind> right = sum();
    if (!right) {
      return right;
    }
    const bool ordered = op->op != ConstraintOp::Equal && op->op != ConstraintOp::NotEqual;
    if ((*left == ValueKind::Truth) != (*right == ValueKind::Truth)) {
      return lexer_.error(offset,
                          fmt::format("'{}' compares a condition with a value", op->symbol));
    }
    if (ordered && *left != *right) {
      return lexer_.error(
          offset, fmt::format("'{}' compares a number with what is not always one", op->symbol));
    }
    emit(op->op);
    return ValueKind::Truth;
  }

  /// After `x in` (or `x not`, when `negated`): `(a, b, …)`.
  Result<ValueKind> membership(ValueKind left, std::size_t offset, bool negated) {
    if (negated && !token_.is("in")) {
      return lexer_.error(offset, "'not' can only be followed by 'in' here");
    }
    if (negated) {
      if (const auto good = advance(); !good) {
        return Failure(good.error());
      }
    }
    if (left == ValueKind::Truth) {
      return lexer_.error(offset, "'in' looks for a value, not for a condition");
    }
    if (!token_.is("(")) {
      return lexer_.error(token_.offset, "'in' needs values in parentheses: in (1, 2)");
    }
    std::size_t items = 0;
    do {
      if (const auto good = advance(); !good) {
        return Failure(good.error());
      }
      const std::size_t item_offset = token_.offset;
      Result<ValueKind> item = nested(&ConstraintParser::sum);
      if (!item) {
        return item;
      }
      if (*item == ValueKind::Truth) {
        return lexer_.error(item_offset, "'in' looks for a value, not for a condition");
      }
      ++items;
    } while (token_.is(","));
    if (const auto closed = close(); !closed) {
      return Failure(closed.error());
    }
    emit(ConstraintOp::In, 0, items);
    if (negated) {
      emit(ConstraintOp::Not);
    }
    return ValueKind::Truth;
  }

  Result<void> close() {
    if (!token_.is(")")) {
      return lexer_.error(token_.offset, "')' is missing here");
    }
    return advance();
  }

  Result<ValueKind> primary() {
    const ConstraintToken token = token_;
    if (const auto good = advance(); !good) {
      return Failure(good.error());
    }
    switch (token.kind) {
      case ConstraintTokenKind::Number:
        emit(ConstraintOp::Number, token.number);
        return ValueKind::Number;
      case ConstraintTokenKind::Text:
        emit(ConstraintOp::Text, 0, program_.texts.size());
        program_.texts.emplace_back(token.text);
        return ValueKind::Text;
      case ConstraintTokenKind::Name:
        return parameter(token);
      case ConstraintTokenKind::End:
        return lexer_.error(token.offset, "a value is missing at the end");
      case ConstraintTokenKind::Symbol:
        break;
    }
    if (!token.is("(")) {
      return lexer_.error(token.offset, fmt::format("a value is missing before '{}'", token.text));
    }
    Result<ValueKind> inner = nested(&ConstraintParser::disjunction);
    if (!inner) {
      return inner;
    }
    if (const auto closed = close(); !closed) {
      return Failure(closed.error());
    }
    return inner;
  }

  Result<ValueKind> parameter(const ConstraintToken& token) {
    for (std::size_t i = 0; i < params_.size(); ++i) {
      if (params_[i].name() == token.text) {
        emit(ConstraintOp::Param, 0, i);
        return params_[i].is_numeric() ? ValueKind::Number : ValueKind::Text;
      }
    }
    return lexer_.error(token.offset, fmt::format("unknown parameter '{}' (known: {}; text needs "
                                                  "quotes)",
                                                  token.text, names_of(params_)));
  }

  ConstraintLexer lexer_;
  std::span<const Param> params_;
  ConstraintToken token_;
  ConstraintProgram program_;
  int nesting_ = 0;
};

}  // namespace

Result<ConstraintProgram> parse_constraint(std::string_view text, std::span<const Param> params) {
  return ConstraintParser(text, params).parse();
}

}  // namespace berth
