// ConstraintProgram: a constraint in postfix order, as its parser leaves it and the evaluator runs
// it. Postfix, so that a condition of any length needs no deep recursion.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/param.h"

namespace berth {

enum class ConstraintOp {
  Number,  // push `number`
  Text,    // push texts[index]
  Param,   // push the value of parameter `index`
  Negate,
  Not,
  And,
  Or,
  Add,
  Subtract,
  Multiply,
  Divide,
  Modulo,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,  // pop `index` items, then the value that may be among them
};

struct ConstraintStep {
  ConstraintOp op = ConstraintOp::Number;
  double number = 0;
  std::size_t index = 0;
};

struct ConstraintProgram {
  std::vector<ConstraintStep> steps;
  std::vector<std::string> texts;
};

/// The program leaves exactly one truth value, whatever the values of `params`.
Result<ConstraintProgram> parse_constraint(std::string_view text, std::span<const Param> params);

}  // namespace berth
