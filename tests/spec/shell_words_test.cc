#include "spec/shell_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

struct SplitCase {
  const char* name;
  std::string_view text;
  std::string_view words;  // with a bar after each
};

class ShellWords : public testing::TestWithParam<SplitCase> {};

TEST_P(ShellWords, Split) {
  const Result<std::vector<std::string>> words = split_shell_words(GetParam().text);
  std::string joined = words ? "" : words.error().message;
  for (std::size_t i = 0; words && i < words->size(); ++i) {
    joined += (*words)[i] + "|";
  }
  EXPECT_EQ(joined, GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ShellWords,
    testing::Values(SplitCase{"nothing", " \n", ""}, SplitCase{"plain", " a  b\tc\n", "a|b|c|"},
                    SplitCase{"single", "'a  b'c '' d", "a  bc||d|"},
                    SplitCase{"quoted", R"("a \"b\" \n \\" 'it"s')", R"(a "b" \n \|it"s|)"},
                    SplitCase{"escaped", R"(a\ b \"c \\)", R"(a b|"c|\|)"},
                    SplitCase{"nothing_else_is_special", "$x * resnet(18); # y",
                              "$x|*|resnet(18);|#|y|"},
                    SplitCase{"open", "a 'b", "a quote is not closed: '"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(JoinLines, OneLine) {
  EXPECT_EQ(join_lines("a\n"), "a");
  EXPECT_EQ(join_lines("  a  b \r\n\n c \\\n  d\\"), "a  b c d\\");
  EXPECT_EQ(join_lines(" \n"), "");
}

}  // namespace
}  // namespace berth
