#include "spec/template.h"

#include <gtest/gtest.h>

#include "spec/sweep_helpers.h"

namespace berth {
namespace {

const std::vector<Param>& known() {
  static const std::vector<Param> params = {param("lr", "0.1"), param("batch-size", "32"),
                                            param("λ", "7")};
  return params;
}

std::string expand(std::string_view text) {
  const Result<Template> parsed = Template::parse(text, known());
  if (!parsed) {
    return "error: " + parsed.error().message;
  }
  std::vector<ParamValue> values;
  for (const Param& p : known()) {
    values.push_back(p.at(0));
  }
  return parsed->expand(values);
}

struct Row {
  const char* name;
  std::string_view text;
  std::string_view outcome;
};

class Templates : public testing::TestWithParam<Row> {};

TEST_P(Templates, Expand) { EXPECT_EQ(expand(GetParam().text), GetParam().outcome); }

INSTANTIATE_TEST_SUITE_P(
    Table, Templates,
    testing::Values(
        Row{"plain", "echo hello", "echo hello"}, Row{"one", "--lr {lr}", "--lr 0.1"},
        Row{"only", "{lr}", "0.1"}, Row{"twice", "{lr}{lr}", "0.10.1"},
        Row{"dashes", "b={batch-size}.", "b=32."}, Row{"other_alphabets", "{λ}", "7"},
        Row{"literal_braces", "awk '{{print}}'", "awk '{print}'"},
        Row{"braces_around", "{{{lr}}}", "{0.1}"},
        Row{"shell_variable", "${{HOME}}/{lr}", "${HOME}/0.1"},
        Row{"format", "{lr:>6}|{lr:_<5}|{λ:^3}|{lr!s:.1}", "   0.1|0.1__| 7 |0"},
        Row{"no_format", "a {lr:d}",
            "error: template, column 3: '{lr:d}': 'd' is no format of a text: "
            "[[fill]align][width][.precision]"},
        Row{"too_wide", "{lr:9999999}",
            "error: template, column 1: '{lr:9999999}': a width of more than 100000"},
        Row{"lines_stay", "a {lr}\nb", "a 0.1\nb"},
        Row{"last_line_ends_go", "a {lr}\n\r\n", "a 0.1"},
        Row{"unknown", "x {foo}",
            "error: template, column 3: unknown parameter 'foo' (known: lr, batch-size, λ)"},
        Row{"open", "ab {lr",
            "error: template, column 4: '{' without '}' (write {{ for a literal brace)"},
        Row{"open_at_the_end", "ab {",
            "error: template, column 4: '{' without '}' (write {{ for a literal brace)"},
        Row{"open_in_open", "{lr {lr}",
            "error: template, column 1: '{' without '}' (write {{ for a literal brace)"},
        Row{"close", "a } b",
            "error: template, column 3: '}' without '{' (write }} for a literal brace)"},
        Row{"columns_count_characters", "λλ }",
            "error: template, column 4: '}' without '{' (write }} for a literal brace)"},
        Row{"later_line", "a {lr}\nb }",
            "error: template, line 2, column 3: '}' without '{' (write }} for a literal brace)"},
        Row{"nothing_inside", "a {}",
            "error: template, column 3: '{}' does not name a parameter (write {{ and }} for "
            "literal "
            "braces)"},
        Row{"empty", "", "error: the template is empty"},
        Row{"only_line_ends", "\n\n", "error: the template is empty"}),
    kRowName);

TEST(Template, KnowsWhatItUses) {
  const Result<Template> parsed = Template::parse("{batch-size} {{lr}}", known());
  ASSERT_TRUE(parsed.has_value());
  EXPECT_FALSE(parsed->uses(0));
  EXPECT_TRUE(parsed->uses(1));
}

}  // namespace
}  // namespace berth
