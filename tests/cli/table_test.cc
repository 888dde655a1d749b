// Tables: alignment, widths and what does not fit.
#include "cli/toolkit/table.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(TableTest, AlignsColumns) {
  Table table;
  table.column("NAME");
  table.column("SIZE", Align::Right);
  table.column("LAST");
  table.row({"a", "1", "x"});
  table.row({"long name", "12345", "y"});
  table.row({"short"});
  EXPECT_EQ(table.render(0, false),
            "NAME        SIZE  LAST\n"
            "a              1  x\n"
            "long name  12345  y\n"
            "short\n");
}

TEST(TableTest, TheWidestColumnGivesWay) {
  Table table;
  table.column("ID");
  table.column("COMMAND");
  table.row({"1", "python train.py --lr 0.1"});
  table.row({"2", "ls"});
  EXPECT_EQ(table.render(16, false),
            "ID  COMMAND\n"
            "1   python trai…\n"
            "2   ls\n");
}

TEST(TableTest, NeverWiderThanTheTerminalWhileThatCanBe) {
  Table table;
  for (int i = 0; i < 5; ++i) {
    table.column("HEADER");
  }
  table.row({"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccc", "d", "eeeeeeeeeeeeeeeeeeeee"});
  for (std::size_t columns = 30; columns < 90; ++columns) {
    const std::string text = table.render(columns, false);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(display_width(text.substr(at, end - at)), columns);
      at = end + 1;
    }
  }
}

TEST(TableTest, ColourIsOutsideOfTheWidth) {
  Table table;
  table.column("A");
  table.column("B", Align::Right);
  table.row({{"x", Colour::Red}, "1"});
  EXPECT_EQ(table.render(0, true), "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n\x1b[31mx\x1b[0m  1\n");
}

TEST(TableTest, ControlCharactersCannotReachTheTerminal) {
  Table table;
  table.column("A");
  table.row({"a\x1b[2Jb\nc\x7f"});
  EXPECT_EQ(table.render(0, false), "A\na?[2Jb?c?\n");
}

struct WidthCase {
  const char* name;
  const char* text;
  std::size_t width;

  friend std::ostream& operator<<(std::ostream& out, const WidthCase& row) {
    return out << row.name;
  }
};

class WidthTest : public ::testing::TestWithParam<WidthCase> {};

TEST_P(WidthTest, Counts) { EXPECT_EQ(display_width(GetParam().text), GetParam().width); }

INSTANTIATE_TEST_SUITE_P(Texts, WidthTest,
                         ::testing::Values(WidthCase{"empty", "", 0}, WidthCase{"ascii", "abc", 3},
                                           WidthCase{"latin", "größe", 5},
                                           WidthCase{"wide", "学習", 4}, WidthCase{"emoji", "🚀", 2},
                                           WidthCase{"combining", "e\xcc\x81", 1},
                                           WidthCase{"not_utf8", "a\xff\xc3", 3},
                                           WidthCase{"cut_short", "\xe5\xad", 2}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(TruncateTest, CutsBetweenCharacters) {
  EXPECT_EQ(truncate_to_width("größe", 5), "größe");
  EXPECT_EQ(truncate_to_width("größer", 5), "größ…");
  EXPECT_EQ(truncate_to_width("学習学習", 4), "学…");
  EXPECT_EQ(truncate_to_width("abc", 1), "…");
  EXPECT_EQ(truncate_to_width("abc", 0), "");
}

TEST(WrapTest, BreaksBetweenWords) {
  EXPECT_EQ(wrap_words("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrap_words("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrap_words("one two three", 0), "one two three");
  EXPECT_EQ(wrap_words("unbreakable", 3), "unbreakable");
  EXPECT_EQ(wrap_words("学習 学習", 4), "学習\n学習");
  EXPECT_EQ(wrap_words("", 5), "");
}

}  // namespace
}  // namespace berth
