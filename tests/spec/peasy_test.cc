// GPUPeasy's batch texts.
#include "spec/peasy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

struct PeasyCase {
  const char* name;
  std::string text;
  std::string jobs;
  std::string problems;  // LINE:COLUMN and a part of the message, each
};

class Peasy : public ::testing::TestWithParam<PeasyCase> {};

TEST_P(Peasy, IsReadAsMeant) {
  const PeasyText read = parse_peasy(GetParam().text);
  std::string jobs;
  for (const PeasyJob& job : read.jobs) {
    jobs += fmt::format("{}|{}|{}|{}\n", job.line, job.name, job.output, job.command);
  }
  EXPECT_EQ(jobs, GetParam().jobs);
  std::string problems;
  for (const LineError& problem : read.problems) {
    problems += fmt::format("{}:{} {}\n", problem.line, problem.column, problem.message);
  }
  EXPECT_EQ(problems, GetParam().problems);
}

const std::string kLong(140'000, 'x');
constexpr const char* kShape = "begins a job that is not NAME;;OUTFILE;;COMMAND;;;\n";

INSTANTIATE_TEST_SUITE_P(
    Spec, Peasy,
    ::testing::Values(
        PeasyCase{"nothing", "", "", ""}, PeasyCase{"blanks", " \n\t\n", "", ""},
        PeasyCase{"one", "a;;o;;c d;;;", "1|a|o|c d\n", ""},
        PeasyCase{"many", "a;;o;;c;;;\nb;;p;;d;;;e;;q;;f;;;", "1|a|o|c\n2|b|p|d\n2|e|q|f\n", ""},
        PeasyCase{"over_lines", "a ;;\n o\n;; c\n  d \n;;;\n\nb;;;p;;x;;;", "1|a|o|c d\n",
                  fmt::format("7:1 {}7:5 {}", kShape, kShape)},
        PeasyCase{"windows", "a;;o;;c;;;\r\nb;;o;;d\r\n;;;\r\n", "1|a|o|c\n2|b|o|d\n", ""},
        PeasyCase{"a_command_may_end_in_a_semicolon", "a;;o;;for x; do y; done;;;;",
                  "1|a|o|for x; do y; done;\n", ""},
        PeasyCase{"no_name_and_no_file", ";; ;;c;;;", "1|||c\n", ""},
        PeasyCase{"any_letters", "<b>;;ö;;echo '🚀';;;", "1|<b>|ö|echo '🚀'\n", ""},
        PeasyCase{"not_closed", "a;;o;;c;;;\n  b;;o;;d", "1|a|o|c\n",
                  "2:3 begins a job that is not closed: ;;; must follow its command\n"},
        PeasyCase{"too_few_parts", "a;;c;;;\nb;;o;;d;;;\n é;;;", "2|b|o|d\n",
                  fmt::format("1:1 {}3:2 {}", kShape, kShape)},
        PeasyCase{"no_command", "a;;o;; \n;;;\nb;;o;;;;;", "",
                  "2:1 has a job without a command\n3:7 has a job without a command\n"},
        PeasyCase{"an_end_is_missing", "a;;o;;c\nb;;p;;d;;;", "",
                  "2:2 has a fourth part of a job: is the ;;; of the one before missing? (;; "
                  "cannot be part of a command)\n"},
        PeasyCase{"a_break_in_the_name", "x\na;;o\np;;c;;;", "",
                  "1:1 has a line break in the name of a job: is the ;;; of the one before "
                  "missing?\n2:4 has a line break in the output file of a job: is the ;;; of the "
                  "one before missing?\n"},
        PeasyCase{"no_text", std::string("a;;o;;c\xff;;;\nb;;o;;\0;;;", 22), "",
                  "1:8 is not UTF-8 here\n2:7 holds a NUL byte\n"},
        PeasyCase{"too_long", "é;;o;;" + kLong + ";;;", "",
                  "1:7 has a command longer than 131071 bytes: put it into a script\n"}),
    [](const auto& row) { return row.param.name; });

TEST(Peasy, ALongLineIsReadOnce) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    text += "a;; ;;b;;;";
  }
  const PeasyText read = parse_peasy(text);
  ASSERT_EQ(read.jobs.size(), 200'000U);
  EXPECT_EQ(read.jobs.back().line, 1U);
}

}  // namespace
}  // namespace berth
