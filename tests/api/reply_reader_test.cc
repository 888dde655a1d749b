#include "api/reply_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/http_text.h"

namespace berth {
namespace {

struct HeadCase {
  const char* name;
  std::string_view text;
  std::string expected;  // "more", "bad", or status, length and whether it is kept
};

class ReplyHeads : public ::testing::TestWithParam<HeadCase> {};

TEST_P(ReplyHeads, Parse) {
  const Result<std::optional<ReplyHead>> head = parse_reply_head(GetParam().text);
  std::string seen = !head ? "bad" : "more";
  if (head && *head) {
    seen = std::to_string((*head)->status) + " " +
           ((*head)->length ? std::to_string(*(*head)->length) : "open") +
           ((*head)->keep_alive ? " kept" : " closed");
  }
  EXPECT_EQ(seen, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Api, ReplyHeads,
    ::testing::Values(
        HeadCase{"plain", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 5 kept"},
        HeadCase{"no_reason", "HTTP/1.1 404\r\nContent-Length:0\r\n\r\n", "404 0 kept"},
        HeadCase{"closing", "HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", "200 open closed"},
        HeadCase{"old", "HTTP/1.0 200 OK\r\n\r\n", "200 open closed"},
        HeadCase{"no_content", "HTTP/1.1 204 No Content\r\n\r\n", "204 0 kept"},
        HeadCase{"continue", "HTTP/1.1 100 Continue\r\n\r\n", "100 0 kept"},
        HeadCase{"partial", "HTTP/1.1 200 OK\r\nContent-", "more"}, HeadCase{"empty", "", "more"},
        HeadCase{"other_protocol", "SSH-2.0\r\n\r\n", "bad"},
        HeadCase{"bad_status", "HTTP/1.1 2x0 OK\r\n\r\n", "bad"},
        HeadCase{"negative_length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "bad"},
        HeadCase{"huge_length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                 "bad"},
        HeadCase{"two_lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                 "bad"},
        HeadCase{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "bad"},
        HeadCase{"no_colon", "HTTP/1.1 200 OK\r\nContent\r\n\r\n", "bad"}),
    [](const auto& row) { return row.param.name; });

TEST(EventReader, ReadsWhatTheServerWritesHoweverItIsCut) {
  std::string text = std::string(kHeartbeat);
  append_event(text, 1, "job", "one\ntwo");
  text += kHeartbeat;
  append_event(text, 2, "gpu", "");
  text += "data: no id, no event\r\n\r\n";
  const std::vector<std::string> expected = {"1|job|one\ntwo", "2|gpu|", "2||no id, no event"};
  for (std::size_t step = 1; step <= text.size(); ++step) {
    EventReader reader;
    std::vector<std::string> seen;
    const auto note = [&](std::string_view id, std::string_view event, std::string_view data) {
      seen.push_back(std::string(id) + "|" + std::string(event) + "|" + std::string(data));
      return true;
    };
    for (std::size_t at = 0; at < text.size(); at += step) {
      EXPECT_TRUE(reader.read(std::string_view(text).substr(at, step), note));
    }
    EXPECT_EQ(seen, expected) << "cut every " << step;
  }
}

}  // namespace
}  // namespace berth
