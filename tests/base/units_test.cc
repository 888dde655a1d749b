#include "base/units.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

std::string row_name(const auto& info) { return info.param.name; }

struct BytesRow {
  const char* name;
  std::string_view text;
  std::int64_t count;  // -1: refused
};

class ParseBytes : public testing::TestWithParam<BytesRow> {};

TEST_P(ParseBytes, Gives) {
  const Result<Bytes> size = parse_bytes(GetParam().text);
  EXPECT_EQ(size ? size->count : -1, GetParam().count);
  if (!size) {
    EXPECT_NE(size.error().message.find(GetParam().text), std::string::npos);
    EXPECT_EQ(size.error().code, ErrorCode::Usage);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParseBytes,
    testing::Values(
        BytesRow{"no_unit", "512", -1}, BytesRow{"zero", "0", 0},
        BytesRow{"bytes", "17B", 17}, BytesRow{"kilo", "2kB", 2000},
        BytesRow{"kilo_capital", "2KB", 2000}, BytesRow{"mega", "500MB", 500'000'000},
        BytesRow{"giga", "1GB", 1'000'000'000}, BytesRow{"tera", "1TB", 1'000'000'000'000},
        BytesRow{"kibi", "1KiB", 1024}, BytesRow{"mebi", "1MiB", 1 << 20},
        BytesRow{"gibi", "8GiB", 8LL << 30}, BytesRow{"tebi", "1TiB", 1LL << 40},
        BytesRow{"letter_is_binary", "1.5G", 3LL << 29}, BytesRow{"letter_k", "1K", 1024},
        BytesRow{"fraction", "0.5GiB", 1LL << 29}, BytesRow{"leading_point", ".5KiB", 512},
        BytesRow{"rounded", "1.4B", 1}, BytesRow{"space", "6.0 GiB", 6LL << 30},
        BytesRow{"largest", "8388607TiB", 8388607LL << 40}, BytesRow{"too_large", "8388608TiB", -1},
        BytesRow{"far_too_large", "99999999999999999999999999", -1},
        BytesRow{"beyond_numbers",
                 "1" /* 400 digits */
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000",
                 -1},
        BytesRow{"empty", "", -1}, BytesRow{"negative", "-1GiB", -1}, BytesRow{"plus", "+1GiB", -1},
        BytesRow{"infinite", "inf", -1}, BytesRow{"nan", "nan", -1},
        BytesRow{"unit_only", "GiB", -1}, BytesRow{"unknown_unit", "1GiBs", -1},
        BytesRow{"wrong_case", "1gib", -1}, BytesRow{"exponent", "1e3", -1},
        BytesRow{"hexadecimal", "0x10", -1}, BytesRow{"two_sizes", "1GiB2MiB", -1},
        BytesRow{"two_spaces", "1  GiB", -1}, BytesRow{"space_first", " 1GiB", -1},
        BytesRow{"space_last", "1GiB ", -1}, BytesRow{"point_only", ".", -1}),
    row_name<testing::TestParamInfo<BytesRow>>);

struct DurationRow {
  const char* name;
  std::string_view text;
  std::int64_t milliseconds;  // -1: refused
};

class ParseDuration : public testing::TestWithParam<DurationRow> {};

TEST_P(ParseDuration, Gives) {
  const Result<Duration> length = parse_duration(GetParam().text);
  EXPECT_EQ(length ? length->count() / 1'000'000 : -1, GetParam().milliseconds);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParseDuration,
    testing::Values(
        DurationRow{"plain_is_seconds", "90", 90'000}, DurationRow{"zero", "0", 0},
        DurationRow{"milliseconds", "250ms", 250}, DurationRow{"seconds", "90s", 90'000},
        DurationRow{"minutes", "10m", 600'000}, DurationRow{"hours", "2h", 7'200'000},
        DurationRow{"days", "1d", 86'400'000}, DurationRow{"weeks", "1w", 604'800'000},
        DurationRow{"hours_and_minutes", "2h30m", 9'000'000},
        DurationRow{"all", "1d2h3m4s5ms", 93'784'005}, DurationRow{"fraction", "1.5h", 5'400'000},
        DurationRow{"about_the_longest", "15250w", 15250LL * 604'800'000},
        DurationRow{"too_long", "15251w", -1}, DurationRow{"too_long_in_parts", "15250w1w", -1},
        DurationRow{"beyond_numbers", "99999999999999999999999999999d", -1},
        DurationRow{"empty", "", -1}, DurationRow{"negative", "-5s", -1},
        DurationRow{"no_unit_at_the_end", "2h30", -1}, DurationRow{"unknown_unit", "5y", -1},
        DurationRow{"unit_only", "s", -1}, DurationRow{"space", "5 s", -1},
        DurationRow{"clock", "1:30", -1}, DurationRow{"infinite", "inf", -1},
        DurationRow{"exponent", "1e3s", -1}),
    row_name<testing::TestParamInfo<DurationRow>>);

TEST(FormatBytes, ShowsThreeDigitsAtMost) {
  EXPECT_EQ(format_bytes(Bytes{0}), "0 B");
  EXPECT_EQ(format_bytes(Bytes{999}), "999 B");
  EXPECT_EQ(format_bytes(Bytes{1000}), "1 KiB");
  EXPECT_EQ(format_bytes(mebibytes(512)), "512 MiB");
  EXPECT_EQ(format_bytes(Bytes{mebibytes(1000).count - 300'000}), "1.0 GiB");
  EXPECT_EQ(format_bytes(gibibytes(6)), "6.0 GiB");
  EXPECT_EQ(format_bytes(Bytes{gibibytes(100).count - 1}), "100 GiB");
  EXPECT_EQ(format_bytes(gibibytes(80)), "80.0 GiB");
  EXPECT_EQ(format_bytes(Bytes{-gibibytes(6).count}), "-6.0 GiB");
  EXPECT_EQ(format_bytes(Bytes{INT64_MAX}), "8388608 TiB");
  EXPECT_EQ(format_bytes(Bytes{INT64_MIN}), "-8388608 TiB");
}

TEST(FormatDuration, ShowsTwoUnitsAtMost) {
  using std::chrono::milliseconds;
  EXPECT_EQ(format_duration(Duration(0)), "0.0s");
  EXPECT_EQ(format_duration(milliseconds(3200)), "3.2s");
  EXPECT_EQ(format_duration(milliseconds(59'940)), "59.9s");
  EXPECT_EQ(format_duration(milliseconds(59'960)), "1m00s");
  EXPECT_EQ(format_duration(std::chrono::seconds(245)), "4m05s");
  EXPECT_EQ(format_duration(milliseconds(3'599'600)), "1h00m");
  EXPECT_EQ(format_duration(std::chrono::minutes(150)), "2h30m");
  EXPECT_EQ(format_duration(std::chrono::hours(28)), "1d04h");
  EXPECT_EQ(format_duration(milliseconds(-3200)), "-3.2s");
  EXPECT_EQ(format_duration(Duration::max()), "106751d23h");
  EXPECT_EQ(format_duration(Duration::min()), "-106751d23h");
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("-9223372036854775808", "n").value(), INT64_MIN);
  EXPECT_EQ(parse_integer("9223372036854775807", "n").value(), INT64_MAX);
  for (const std::string_view text : {"", " 1", "1 ", "1.0", "+1", "9223372036854775808", "x"}) {
    EXPECT_FALSE(parse_integer(text, "n").has_value()) << text;
  }
  EXPECT_EQ(parse_integer("x", "the seed").error().message,
            "the seed must be a whole number, not 'x'");
}

TEST(ParseReal, TakesFiniteNumbersOnly) {
  EXPECT_EQ(parse_real("-1.5e3", "x").value(), -1500.0);
  for (const std::string_view text : {"", "inf", "nan", "1e999", "1,5", "0x1p3", "1 "}) {
    EXPECT_FALSE(parse_real(text, "x").has_value()) << text;
  }
}

}  // namespace
}  // namespace berth
