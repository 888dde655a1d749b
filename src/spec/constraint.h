// Constraint: a condition on the parameters of a sweep, such as `bs <= 128 and fc0 == fc1`.
//
//   or    a || b, a or b            compare  == != < <= > >=, x in (a, b), x not in (a, b)
//   and   a && b, a and b           add      + -
//   not   !a, not a                 times    * / %  (% has the sign of its right side)
//
// Operands are numbers, 'text' or "text", parameter names (`{batch-size}` in braces when the name
// is not a plain word) and parentheses. parse() finds all errors: a parsed constraint holds or does
// not hold, and never fails. Dividing by 0 gives an infinity, as floating-point numbers do.
// Immutable, usable from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/constraint_program.h"
#include "spec/param.h"

namespace berth {

class Constraint {
 public:
  /// Errors name the column.
  static Result<Constraint> parse(std::string_view text, std::span<const Param> params);

  /// `values` has one value for each of the parameters, in their order.
  bool holds(std::span<const ParamValue> values) const;

  /// The number of steps that holds() takes.
  std::size_t steps() const { return program_.steps.size(); }

 private:
  explicit Constraint(ConstraintProgram program) : program_(std::move(program)) {}

  ConstraintProgram program_;
};

}  // namespace berth
