#include "api/http_text.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

struct TargetCase {
  const char* name;
  std::string_view target;
  std::optional<std::string> parsed;  // path|name=value|…
};

class Targets : public ::testing::TestWithParam<TargetCase> {};

TEST_P(Targets, Parse) {
  const std::optional<Target> target = parse_target(GetParam().target);
  ASSERT_EQ(target.has_value(), GetParam().parsed.has_value());
  if (target) {
    std::string text = target->path;
    for (const auto& [name, value] : target->query) {
      text += "|" + name + "=" + value;
    }
    EXPECT_EQ(text, *GetParam().parsed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Api, Targets,
    ::testing::Values(
        TargetCase{"plain", "/v1/jobs/12", "/v1/jobs/12"}, TargetCase{"root", "/", "/"},
        TargetCase{"star", "*", "*"}, TargetCase{"decoded", "/a%20b%2Fc%C3%A9", "/a b/c\xc3\xa9"},
        TargetCase{"plus_in_path", "/a+b", "/a+b"},
        TargetCase{"query", "/q?state=queued&n=10", "/q|state=queued|n=10"},
        TargetCase{"query_decoded", "/q?a%26b=c+d%3D%2b", "/q|a&b=c d=+"},
        TargetCase{"no_value", "/q?a&b=&=c", "/q|a=|b=|=c"},
        TargetCase{"equals_in_value", "/q?a=b=c", "/q|a=b=c"},
        TargetCase{"empty_parts", "/q?&&a=1&", "/q|a=1"}, TargetCase{"only_mark", "/q?", "/q"},
        TargetCase{"second_mark", "/q?a=b?c", "/q|a=b?c"},
        TargetCase{"short_escape", "/a%2", std::nullopt},
        TargetCase{"lone_percent", "/a%", std::nullopt},
        TargetCase{"bad_escape", "/a%zz", std::nullopt},
        TargetCase{"bad_escape_in_query", "/a?b=%4", std::nullopt},
        TargetCase{"nul", "/a%00b", std::nullopt},
        TargetCase{"nul_in_query", "/?%00", std::nullopt}, TargetCase{"empty", "", std::nullopt},
        TargetCase{"relative", "v1/jobs", std::nullopt},
        TargetCase{"absolute", "http://localhost/v1", std::nullopt},
        TargetCase{"authority", "localhost:80", std::nullopt},
        TargetCase{"fragment", "/a#b", std::nullopt}),
    [](const auto& row) { return row.param.name; });

TEST(HttpText, EncodesWhatItDecodes) {
  std::string all;
  for (int c = 0; c < 256; ++c) {
    all += static_cast<char>(c);
  }
  EXPECT_EQ(percent_encode("a b/c~%"), "a%20b%2Fc~%25");
  EXPECT_EQ(percent_decode(percent_encode(all), true), all);
  EXPECT_EQ(percent_decode(percent_encode(all), false), all);
}

TEST(HttpText, HeadsCannotBeBrokenOut) {
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"Allow", "GET"}, {"X-Bad", "a\r\nSet-Cookie: b"}, {"X\nBad", "c"}};
  std::string out;
  append_head(out, {405, "text/plain", &headers, 3, false});
  EXPECT_EQ(out,
            "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nAllow: GET\r\n"
            "Connection: close\r\n\r\n");
}

TEST(HttpText, SplitsTheLinesOfAnEvent) {
  std::string out;
  append_event(out, 7, "job", "a\nb\r\nc\rd\n");
  EXPECT_EQ(out, "id: 7\nevent: job\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
}

}  // namespace
}  // namespace berth
