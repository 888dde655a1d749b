#include "spec/constraint.h"

#include <gtest/gtest.h>

#include "spec/sweep_helpers.h"

namespace berth {
namespace {

/// a=3, b=4.5, opt=adam (or sgd), bs=32, mixed=auto (or 1), and names that need braces.
const std::vector<Param>& known_params() {
  static const std::vector<Param> params = {
      param("a", "3"),      param("b", "4.5"),        param("opt", "adam,sgd"),
      param("bs", "3.2e1"), param("mixed", "auto,1"), param("batch-size", "64"),
      param("in", "5"),
  };
  return params;
}

std::string outcome(std::string_view text) {
  const Result<Constraint> parsed = Constraint::parse(text, known_params());
  if (!parsed) {
    return parsed.error().message;
  }
  std::vector<ParamValue> values;
  for (const Param& p : known_params()) {
    values.push_back(p.at(0));
  }
  return parsed->holds(values) ? "true" : "false";
}

struct TruthRow {
  const char* name;
  std::string_view text;
  bool holds;
};

class ConstraintTruth : public testing::TestWithParam<TruthRow> {};

TEST_P(ConstraintTruth, Holds) {
  EXPECT_EQ(outcome(GetParam().text), GetParam().holds ? "true" : "false") << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ConstraintTruth,
    testing::Values(
        TruthRow{"equal", "a == 3", true}, TruthRow{"equal_by_value", "bs == 32", true},
        TruthRow{"equal_by_spelling", "bs == '3.2e1'", true},
        TruthRow{"not_equal", "a != 3.0", false}, TruthRow{"less", "a < b", true},
        TruthRow{"less_equal", "a <= 3", true}, TruthRow{"greater", "a > b", false},
        TruthRow{"greater_equal", "b>=4.5", true}, TruthRow{"text", "opt == \"adam\"", true},
        TruthRow{"text_order", "opt < 'b'", true}, TruthRow{"text_is_no_number", "opt == 3", false},
        TruthRow{"mixed_values", "mixed == 1", false},
        TruthRow{"braces", "{batch-size} == 64", true},
        TruthRow{"braces_for_a_keyword", "{in} == 5", true},
        TruthRow{"times_before_plus", "a + 2 * 3 == 9", true},
        TruthRow{"left_to_right", "10 - 3 - 2 == 5", true},
        TruthRow{"divide", "a / 2 == 1.5", true}, TruthRow{"modulo", "bs % 5 == 2", true},
        TruthRow{"modulo_sign", "-1 % 3 == 2 and 1 % -3 == -2", true},
        TruthRow{"minus", "-a == 0 - 3 and 2 - -1 == a", true},
        TruthRow{"parentheses", "(a + 2) * 3 == 15", true},
        TruthRow{"and_before_or", "a == 3 or a == 4 and b == 0", true},
        TruthRow{"symbols", "a == 4 && b < 1 || !(a == 4)", true},
        TruthRow{"not_binds_loosely", "not a == 4", true},
        TruthRow{"double_not", "not not a == 3", true},
        TruthRow{"equal_truths", "(a < b) == (b < 9)", true},
        TruthRow{"in", "a in (1, 2, 3)", true}, TruthRow{"in_one", "a in (4)", false},
        TruthRow{"in_texts", "opt in ('sgd', 'adam')", true},
        TruthRow{"in_sums", "a + 1 in (2 * 2)", true},
        TruthRow{"not_in", "a not in (1, 2) and a !in (4)", true},
        TruthRow{"divide_by_zero", "1 / 0 > 5", true},
        TruthRow{"nothing_is_like_nan", "0 / 0 == 0 / 0 or 0 % 0 < 1", false},
        TruthRow{"no_spaces", "a==3&&b==4.5", true}),
    kRowName);

struct ConstraintErrorRow {
  const char* name;
  std::string_view text;
  std::string_view says;
};

class ConstraintErrors : public testing::TestWithParam<ConstraintErrorRow> {};

TEST_P(ConstraintErrors, PointAtTheColumn) {
  const std::string message = outcome(GetParam().text);
  EXPECT_EQ(message,
            "constraint '" + std::string(GetParam().text) + "', " + std::string(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, ConstraintErrors,
    testing::Values(
        ConstraintErrorRow{"empty", "", "column 1: a value is missing at the end"},
        ConstraintErrorRow{"half", "a ==", "column 5: a value is missing at the end"},
        ConstraintErrorRow{"no_left", "== 3", "column 1: a value is missing before '=='"},
        ConstraintErrorRow{"single_equals", "a = 3", "column 3: '=' compares nothing: write '=='"},
        ConstraintErrorRow{"no_condition", "a + 1",
                           "column 1: this is a value, not a condition: compare it with something"},
        ConstraintErrorRow{
            "unknown", "a == foo",
            "column 6: unknown parameter 'foo' (known: a, b, opt, bs, mixed, batch-size, in; "
            "text needs quotes)"},
        ConstraintErrorRow{"chained", "1 < a < 3",
                           "column 7: comparisons cannot be chained: join them with 'and'"},
        ConstraintErrorRow{"text_in_sum", "opt + 1 == 2",
                           "column 5: '+' needs numbers on both sides"},
        ConstraintErrorRow{"mixed_order", "mixed < 3",
                           "column 7: '<' compares a number with what is not always one"},
        ConstraintErrorRow{"truth_and_value", "(a < 3) == 1",
                           "column 9: '==' compares a condition with a value"},
        ConstraintErrorRow{"value_in_and", "a and b == 1",
                           "column 3: '&&' needs conditions on both sides"},
        ConstraintErrorRow{"not_of_value", "not a", "column 1: 'not' needs a condition"},
        ConstraintErrorRow{"minus_text", "-opt == 1", "column 1: '-' needs a number"},
        ConstraintErrorRow{"open_parenthesis", "(a == 1", "column 8: ')' is missing here"},
        ConstraintErrorRow{"too_many_closed", "a == 1)",
                           "column 7: the condition should have ended here"},
        ConstraintErrorRow{"two_values", "a 3", "column 3: the condition should have ended here"},
        ConstraintErrorRow{"open_quote", "opt == 'adam", "column 8: ''' has no closing '''"},
        ConstraintErrorRow{"odd_character", "a == 1 # b", "column 8: '#' means nothing here"},
        ConstraintErrorRow{"number_and_letter", "a == 3x",
                           "column 7: a number ends here, but a letter follows"},
        ConstraintErrorRow{"not_a_number", "a == .", "column 6: this is not a number"},
        ConstraintErrorRow{"in_without_list", "a in 3",
                           "column 6: 'in' needs values in parentheses: in (1, 2)"},
        ConstraintErrorRow{"in_empty", "a in ()", "column 7: a value is missing before ')'"},
        ConstraintErrorRow{"condition_in_list", "a in ((1 < 2))",
                           "column 7: 'in' looks for a value, not for a condition"},
        ConstraintErrorRow{"not_without_in", "a not 3",
                           "column 3: 'not' can only be followed by 'in' here"}),
    kRowName);

TEST(Constraint, LongConditionsAreFineAndDeepOnesAreRefused) {
  std::string text = "a == 3";
  for (int i = 0; i < 10'000; ++i) {
    text += " and a == 3";
  }
  EXPECT_EQ(outcome(text), "true");
  EXPECT_NE(outcome(std::string(100'000, '(') + "a").find("nested too deeply"), std::string::npos);
  EXPECT_NE(outcome(std::string(100'000, '!') + "a").find("nested too deeply"), std::string::npos);
  EXPECT_NE(outcome(std::string(100'000, '-') + "a").find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace berth
