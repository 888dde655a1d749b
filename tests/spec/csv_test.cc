#include "spec/csv.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using Fields = std::vector<std::vector<std::string>>;

struct CsvRow {
  const char* name;
  std::string_view text;
  Fields fields;
  std::vector<std::size_t> lines;
};

class CsvTexts : public testing::TestWithParam<CsvRow> {};

TEST_P(CsvTexts, AreTheseRecords) {
  const Csv csv = parse_csv(GetParam().text);
  Fields fields;
  std::vector<std::size_t> lines;
  for (const CsvRecord& record : csv.records) {
    fields.push_back(record.fields);
    lines.push_back(record.line);
  }
  EXPECT_EQ(fields, GetParam().fields);
  EXPECT_EQ(lines, GetParam().lines);
  EXPECT_TRUE(csv.problems.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, CsvTexts,
    testing::Values(
        CsvRow{"nothing", "", {}, {}},
        CsvRow{"plain", "a,b\nc,d\n", {{"a", "b"}, {"c", "d"}}, {1, 2}},
        CsvRow{"no_last_line_end", "a,b\nc,d", {{"a", "b"}, {"c", "d"}}, {1, 2}},
        CsvRow{"crlf", "a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}, {1, 2}},
        CsvRow{"byte_order_mark",
               "\xef\xbb\xbf"
               "a,b\n",
               {{"a", "b"}},
               {1}},
        CsvRow{"blank_lines", "\n  \na\n\r\n\t\nb\n\n", {{"a"}, {"b"}}, {3, 6}},
        CsvRow{"lines_of_commas", "a,b\n,,,\n , \nc,d", {{"a", "b"}, {"c", "d"}}, {1, 4}},
        CsvRow{"quoted_and_empty_is_no_blank_line", "\"\"\n", {{""}}, {1}},
        CsvRow{"empty_fields", "a,,b,\n", {{"a", "", "b", ""}}, {1}},
        CsvRow{"blanks_around", " a b ,\tc\t\n", {{"a b", "c"}}, {1}},
        CsvRow{"quoted", "\"a,b\",\"c \"\"d\"\"\"\n", {{"a,b", "c \"d\""}}, {1}},
        CsvRow{"quoted_keeps_blanks", "  \" a \"  , b\n", {{" a ", "b"}}, {1}},
        CsvRow{"quoted_lines", "\"a\nb\r\nc\",d\ne,f\n", {{"a\nb\r\nc", "d"}, {"e", "f"}}, {1, 4}},
        CsvRow{"quote_inside", "a\"b,c\n", {{"a\"b", "c"}}, {1}}),
    [](const auto& row) { return row.param.name; });

TEST(CsvProblems, AreNamedByTheirLines) {
  const Csv csv = parse_csv("a,b\n\"c\" d,e\nf,g\nh,\"i\nj");
  ASSERT_EQ(csv.records.size(), 2U);
  EXPECT_EQ(csv.records[1].fields, (std::vector<std::string>{"f", "g"}));
  ASSERT_EQ(csv.problems.size(), 2U);
  EXPECT_EQ(csv.problems[0].line, 2U);
  EXPECT_EQ(csv.problems[1].line, 4U);
}

}  // namespace
}  // namespace berth
