// The words of a constraint, one at a time. Borrows the text; lives as long as a parser's call.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

enum class ConstraintTokenKind { End, Number, Text, Name, Symbol };

struct ConstraintToken {
  ConstraintTokenKind kind = ConstraintTokenKind::End;
  /// The symbol, in its one spelling (`&&` for `and`), or the name, or the text without quotes.
  std::string_view text;
  double number = 0;
  std::size_t offset = 0;

  bool is(std::string_view symbol) const {
    return kind == ConstraintTokenKind::Symbol && text == symbol;
  }
};

class ConstraintLexer {
 public:
  explicit ConstraintLexer(std::string_view text) : text_(text) {}

  Result<ConstraintToken> next();

  /// "constraint 'TEXT', column N: WHAT".
  Failure error(std::size_t offset, std::string_view what) const;

 private:
  Result<ConstraintToken> number();
  Result<ConstraintToken> quoted(char end, ConstraintTokenKind kind);
  ConstraintToken word();
  Result<ConstraintToken> symbol();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace berth
