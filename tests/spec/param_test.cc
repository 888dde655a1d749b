#include "spec/param.h"

#include <gtest/gtest.h>

#include "spec/sweep_helpers.h"

namespace berth {
namespace {

using Texts = std::vector<std::string>;

struct ValuesRow {
  const char* name;
  std::string_view text;
  Texts values;
};

class ParamValues : public testing::TestWithParam<ValuesRow> {};

TEST_P(ParamValues, AreThese) {
  EXPECT_EQ(texts_of(param("x", GetParam().text)), GetParam().values);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParamValues,
    testing::Values(
        ValuesRow{"list", "0.1,0.01", {"0.1", "0.01"}},
        ValuesRow{"list_keeps_spelling", "1e-1,0.10,+5", {"1e-1", "0.10", "+5"}},
        ValuesRow{"one_value", "adam", {"adam"}}, ValuesRow{"value_with_equals", "a=b", {"a=b"}},
        ValuesRow{"relative_path_is_no_range", "../data", {"../data"}},
        ValuesRow{"colon_is_no_range", "logs:1", {"logs:1"}},
        ValuesRow{"integers", "1..4", {"1", "2", "3", "4"}},
        ValuesRow{"integers_step", "1..10..3", {"1", "4", "7", "10"}},
        ValuesRow{"integers_step_misses_end", "1..9..3", {"1", "4", "7"}},
        ValuesRow{"integers_down", "3..1", {"3", "2", "1"}},
        ValuesRow{"integers_down_step", "10..1..4", {"10", "6", "2"}},
        ValuesRow{"integers_negative", "-2..1", {"-2", "-1", "0", "1"}},
        ValuesRow{"integers_one", "5..5", {"5"}},
        ValuesRow{"integers_at_the_end_of_the_line",
                  "9223372036854775806..9223372036854775807",
                  {"9223372036854775806", "9223372036854775807"}},
        ValuesRow{"integers_huge_step",
                  "-9223372036854775808..9223372036854775807..9223372036854775807",
                  {"-9223372036854775808", "-1", "9223372036854775806"}},
        ValuesRow{"fractions", "0..1..0.25", {"0", "0.25", "0.5", "0.75", "1"}},
        ValuesRow{"fractions_no_artefacts", "0.1..0.5..0.1", {"0.1", "0.2", "0.3", "0.4", "0.5"}},
        ValuesRow{"fractions_end_no_artefact", "0..0.3..0.1", {"0", "0.1", "0.2", "0.3"}},
        ValuesRow{"fractions_down", "1..0..0.5", {"1", "0.5", "0"}},
        ValuesRow{"fractions_around_zero",
                  "-0.3..0.3..0.1",
                  {"-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"}},
        ValuesRow{"fractions_miss_end", "0..1..0.3", {"0", "0.3", "0.6", "0.9"}},
        ValuesRow{"linear", "lin:0..1/3", {"0", "0.5", "1"}},
        ValuesRow{"linear_thirds", "lin:0..1/4", {"0", "0.333333333333", "0.666666666667", "1"}},
        ValuesRow{"linear_one", "lin:2..3/1", {"2"}},
        ValuesRow{"linear_narrow",
                  "lin:1000000000000..1000000000001/3",
                  {"1000000000000", "1000000000000.5", "1000000000001"}},
        ValuesRow{"uniform_with_count", "uniform:0..1/2", {"0", "1"}},
        ValuesRow{"log", "log:1e-5..1e-1/5", {"1e-05", "0.0001", "0.001", "0.01", "0.1"}},
        ValuesRow{"log_down", "log:1..0.01/3", {"1", "0.1", "0.01"}},
        ValuesRow{
            "log_halves", "log:1..100/5", {"1", "3.16227766017", "10", "31.6227766017", "100"}},
        ValuesRow{"powers", "pow2:16..256", {"16", "32", "64", "128", "256"}},
        ValuesRow{"powers_between", "pow2:10..100", {"16", "32", "64"}},
        ValuesRow{"powers_one", "pow2:1..1", {"1"}},
        ValuesRow{"powers_last",
                  "pow2:4611686018427387904..9223372036854775807",
                  {"4611686018427387904"}}),
    kRowName);

struct ParamErrorRow {
  const char* name;
  std::string_view text;
  std::string_view says;
};

class ParamErrors : public testing::TestWithParam<ParamErrorRow> {};

TEST_P(ParamErrors, SayWhatIsWrong) {
  const std::string message = message_of(Param::parse("x", GetParam().text));
  EXPECT_NE(message.find(GetParam().says), message.npos) << message;
  EXPECT_NE(message.find("'x'"), message.npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParamErrors,
    testing::Values(ParamErrorRow{"empty", "", "empty value"},
                    ParamErrorRow{"empty_in_the_middle", "1,,2", "empty value"},
                    ParamErrorRow{"empty_at_the_end", "1,", "empty value"},
                    ParamErrorRow{"range_in_list", "1..3,7", "'1..3' must stand alone"},
                    ParamErrorRow{"no_end", "1..", "is not understood"},
                    ParamErrorRow{"no_step", "1..2..", "is not understood"},
                    ParamErrorRow{"words", "1..x", "is not understood"},
                    ParamErrorRow{"step_zero", "1..5..0", "step of 0"},
                    ParamErrorRow{"fraction_step_zero", "0..1..0.0", "step of 0"},
                    ParamErrorRow{"fractions_without_step", "0.5..2", "needs a step"},
                    ParamErrorRow{"too_many", "-9223372036854775808..9223372036854775807",
                                  "too many"},
                    ParamErrorRow{"too_many_fractions", "0..1e300..0.1", "too many"},
                    ParamErrorRow{"count_zero", "lin:0..1/0", "at least 1"},
                    ParamErrorRow{"count_words", "lin:0..1/x", "whole number of points"},
                    ParamErrorRow{"log_of_zero", "log:0..1/3", "above 0"},
                    ParamErrorRow{"log_without_ends", "log:5", "is not understood"},
                    ParamErrorRow{"equal_ends", "uniform:1..1", "begins where it ends"},
                    ParamErrorRow{"not_finite", "uniform:0..inf", "is not understood"},
                    ParamErrorRow{"too_wide", "uniform:-1.5e308..1.5e308", "too wide"},
                    ParamErrorRow{"no_power", "pow2:5..7", "no power of two"},
                    ParamErrorRow{"powers_down", "pow2:256..16", "must go up"},
                    ParamErrorRow{"powers_of_nothing", "pow2:0..16", "from 1 or more"}),
    kRowName);

TEST(Param, ContinuousRangesHaveNoSizeAndStayInside) {
  for (const std::string_view text : {"uniform:-1..1", "log:1e-5..1e-1", "lin:1000000..1000001",
                                      "log:3..2", "uniform:0.12345678..0.12345679"}) {
    const Param range = param("x", text);
    EXPECT_FALSE(range.size().has_value());
    const std::string_view ends = text.substr(text.find(':') + 1);
    const double a = *number_in(ends.substr(0, ends.find("..")));
    const double b = *number_in(ends.substr(ends.find("..") + 2));
    Random random(1);
    std::vector<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
      const ParamValue value = range.sample(random);
      EXPECT_GE(*value.number, std::min(a, b)) << text;
      EXPECT_LE(*value.number, std::max(a, b)) << text;
      EXPECT_EQ(number_in(value.text), value.number);
      seen.push_back(value.text);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 990) << text;
  }
}

TEST(Param, LogSamplesAreEvenlySpreadOverTheDecades) {
  const Param range = param("lr", "log:1e-4..1");
  Random random(7);
  std::array<int, 4> decades{};
  for (int i = 0; i < 4000; ++i) {
    const double value = *range.sample(random).number;
    ++decades[value < 1e-3 ? 0 : value < 1e-2 ? 1 : value < 1e-1 ? 2 : 3];
  }
  for (const int hits : decades) {
    EXPECT_NEAR(hits, 1000, 100);
  }
}

TEST(Param, KnowsWhetherAllValuesAreNumbers) {
  EXPECT_TRUE(param("x", "1,2.5,-1e3").is_numeric());
  EXPECT_TRUE(param("x", "1..3").is_numeric());
  EXPECT_FALSE(param("x", "1,auto").is_numeric());
  EXPECT_FALSE(param("x", "inf").is_numeric());
  EXPECT_FALSE(param("x", "0x10").is_numeric());
}

TEST(Param, HugeRangesAreNotBuilt) {
  EXPECT_EQ(param("n", "1..1000000000000").at(999'999'999'999).text, "1000000000000");
  EXPECT_EQ(param("n", "lin:0..1/1000000000001").at(500'000'000'000).text, "0.5");
}

std::string words_to_text(std::vector<std::string_view> words, LoneValue lone) {
  const Result<std::vector<Param>> params = parse_param_words(words, lone);
  if (!params) {
    return "error: " + params.error().message;
  }
  std::string text;
  for (const Param& p : *params) {
    text += p.name() + ":";
    for (const std::string& value : texts_of(p)) {
      text += " " + value;
    }
    text += ";";
  }
  return text;
}

TEST(ParamWords, NameAndValues) {
  EXPECT_EQ(words_to_text({"lr", "0.1", "-1"}, LoneValue::MayBeRange), "lr: 0.1 -1;");
  EXPECT_EQ(words_to_text({"flag", "", "--x"}, LoneValue::MayBeRange), "flag:  --x;");
  EXPECT_EQ(words_to_text({"f", "a,b"}, LoneValue::MayBeRange), "f: a,b;");
}

TEST(ParamWords, ALoneRangeIsARangeUnlessLiteral) {
  EXPECT_EQ(words_to_text({"n", "1..3"}, LoneValue::MayBeRange), "n: 1 2 3;");
  EXPECT_EQ(words_to_text({"n", "1..3"}, LoneValue::IsLiteral), "n: 1..3;");
  EXPECT_EQ(words_to_text({"n", "1..3", "5"}, LoneValue::MayBeRange), "n: 1..3 5;");
}

TEST(ParamWords, AssignmentsCanShareOneOption) {
  EXPECT_EQ(words_to_text({"a=1,2", "b=pow2:2..4"}, LoneValue::IsLiteral), "a: 1 2;b: 2 4;");
}

TEST(ParamWords, Errors) {
  EXPECT_EQ(words_to_text({"lr"}, LoneValue::MayBeRange), "error: parameter 'lr' has no values");
  EXPECT_NE(words_to_text({"a=1", "train {a}"}, LoneValue::MayBeRange).find("is not NAME=VALUES"),
            std::string::npos);
  EXPECT_NE(words_to_text({"a=1", "x --a={a}"}, LoneValue::MayBeRange).find("is not NAME=VALUES"),
            std::string::npos);
  EXPECT_NE(words_to_text({"1x", "2"}, LoneValue::MayBeRange).find("not a parameter name"),
            std::string::npos);
}

}  // namespace
}  // namespace berth
