#include "spec/constraint.h"

#include <cmath>
#include <utility>

#include "base/check.h"

namespace berth {
namespace {

/// A value on the evaluator's stack. Truth is the number 1 or 0.
struct Operand {
  std::string_view text;
  double number = 0;
  bool is_number = false;
};

Operand of_number(double number) { return {{}, number, true}; }

Operand of_truth(bool truth) { return of_number(truth ? 1 : 0); }

/// "1e-1" equals 0.1; a quoted text equals the value that is written that way.
bool equal(const Operand& a, const Operand& b) {
  return a.is_number && b.is_number ? a.number == b.number : a.text == b.text;
}

bool less(const Operand& a, const Operand& b) {
  return a.is_number && b.is_number ? a.number < b.number : a.text < b.text;
}

bool less_equal(const Operand& a, const Operand& b) {
  return a.is_number && b.is_number ? a.number <= b.number : a.text <= b.text;
}

double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Operand apply(ConstraintOp op, const Operand& a, const Operand& b) {
  switch (op) {
    case ConstraintOp::And:
      return of_truth(a.number != 0 && b.number != 0);
    case ConstraintOp::Or:
      return of_truth(a.number != 0 || b.number != 0);
    case ConstraintOp::Add:
      return of_number(a.number + b.number);
    case ConstraintOp::Subtract:
      return of_number(a.number - b.number);
    case ConstraintOp::Multiply:
      return of_number(a.number * b.number);
    case ConstraintOp::Divide:
      return of_number(a.number / b.number);
    case ConstraintOp::Modulo:
      return of_number(modulo(a.number, b.number));
    case ConstraintOp::Equal:
      return of_truth(equal(a, b));
    case ConstraintOp::NotEqual:
      return of_truth(!equal(a, b));
    case ConstraintOp::Less:
      return of_truth(less(a, b));
    case ConstraintOp::LessEqual:
      return of_truth(less_equal(a, b));
    case ConstraintOp::Greater:
      return of_truth(less(b, a));
    case ConstraintOp::GreaterEqual:
      return of_truth(less_equal(b, a));
    case ConstraintOp::Number:
    case ConstraintOp::Text:
    case ConstraintOp::Param:
    case ConstraintOp::Negate:
    case ConstraintOp::Not:
    case ConstraintOp::In:
      break;
  }
  // Not of two operands: holds() has done those itself.
  check_failed("an operation on two operands", __FILE__, __LINE__);
}

}  // namespace

Result<Constraint> Constraint::parse(std::string_view text, std::span<const Param> params) {
  Result<ConstraintProgram> program = parse_constraint(text, params);
  if (!program) {
    return Failure(program.error());
  }
  return Constraint(*std::move(program));
}

bool Constraint::holds(std::span<const ParamValue> values) const {
  std::vector<Operand> stack;
  stack.reserve(program_.steps.size());
  const auto pop = [&stack] {
    const Operand top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const ConstraintStep& step : program_.steps) {
    switch (step.op) {
      case ConstraintOp::Number:
        stack.push_back(of_number(step.number));
        break;
      case ConstraintOp::Text:
        stack.push_back({program_.texts[step.index], 0, false});
        break;
      case ConstraintOp::Param: {
        const ParamValue& value = values[step.index];
        stack.push_back({value.text, value.number.value_or(0), value.number.has_value()});
        break;
      }
      case ConstraintOp::Negate:
        stack.push_back(of_number(-pop().number));
        break;
      case ConstraintOp::Not:
        stack.push_back(of_truth(pop().number == 0));
        break;
      case ConstraintOp::In: {
        const std::size_t value = stack.size() - step.index - 1;
        bool found = false;
        for (std::size_t i = value + 1; i < stack.size(); ++i) {
          found = found || equal(stack[value], stack[i]);
        }
        stack.resize(value);
        stack.push_back(of_truth(found));
        break;
      }
      default: {
        const Operand b = pop();
        const Operand a = pop();
        stack.push_back(apply(step.op, a, b));
      }
    }
  }
  return stack.back().number != 0;
}

}  // namespace berth
