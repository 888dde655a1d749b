// The line of answers: they leave in the order of the requests, whatever the order they come in.
#include "api/answer_line.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

#include "api/reply_reader.h"

namespace berth {
namespace {

constexpr std::string_view kStreamHead = "Connection: close\r\n\r\n";

HttpResponse answer_of(std::string body) {
  HttpResponse out;
  out.body = std::move(body);
  return out;
}

class AnswerLineTest : public ::testing::Test {
 protected:
  bool answer(std::uint64_t number, std::string body) {
    return line_.answer(number, answer_of(std::move(body)));
  }
  /// The bodies of the answers in the output, one behind the other.
  std::string bodies() {
    std::string_view rest = output_.text();
    std::string out;
    while (!rest.empty()) {
      const Result<std::optional<ReplyHead>> head = parse_reply_head(rest);
      if (!head || !*head) {
        return "no answers: " + std::string(rest);
      }
      const std::size_t length = (*head)->length.value_or(0);
      out += rest.substr((*head)->size, length);
      rest.remove_prefix((*head)->size + length);
    }
    return out;
  }
  bool ends_with(std::string_view text) { return output_.text().ends_with(text); }

  HttpServer::Limits limits_;
  OutputBuffer output_;
  AnswerLine line_{output_, limits_};
};

struct OrderCase {
  const char* name;
  std::vector<std::uint64_t> answered;
  std::vector<const char*> out;  // after each
};

class AnswerOrders : public AnswerLineTest, public ::testing::WithParamInterface<OrderCase> {};

TEST_P(AnswerOrders, LeaveInTheOrderOfTheRequests) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(line_.add({.body_bytes = 10}), i);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t number = GetParam().answered[i];
    EXPECT_TRUE(line_.waits(number));
    EXPECT_FALSE(answer(number, std::string(1, static_cast<char>('a' + number))));
    EXPECT_FALSE(line_.waits(number));
    EXPECT_EQ(bodies(), GetParam().out[i]);
    EXPECT_EQ(line_.body_bytes(), 10 * (2 - i));
  }
  EXPECT_TRUE(line_.empty());
  EXPECT_EQ(line_.unread(), output_.unsent());
}

INSTANTIATE_TEST_SUITE_P(Api, AnswerOrders,
                         ::testing::Values(OrderCase{"in_order", {0, 1, 2}, {"a", "ab", "abc"}},
                                           OrderCase{"reversed", {2, 1, 0}, {"", "", "abc"}},
                                           OrderCase{"first_late", {1, 0, 2}, {"", "ab", "abc"}},
                                           OrderCase{"middle_late", {2, 0, 1}, {"", "a", "abc"}}),
                         [](const auto& row) { return row.param.name; });

TEST_F(AnswerLineTest, SaysHowLongABodyIsThatItDoesNotSend) {
  EXPECT_FALSE(answer(line_.add({.head_only = true}), "four"));
  EXPECT_NE(output_.text().find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_TRUE(ends_with("\r\n\r\n"));
}

TEST_F(AnswerLineTest, SomeAnswersHaveNoBody) {
  HttpResponse response = answer_of("four");
  response.status = 304;
  EXPECT_FALSE(line_.answer(line_.add({}), response));
  EXPECT_EQ(output_.text().find("Content-Length"), std::string::npos);
  EXPECT_TRUE(ends_with("\r\n\r\n"));
}

TEST_F(AnswerLineTest, NothingFollowsTheLastAnswer) {
  const std::uint64_t first = line_.add({});
  const std::uint64_t last = line_.add({});
  const std::uint64_t dropped = line_.add({});
  EXPECT_FALSE(answer(dropped, "c"));
  EXPECT_FALSE(line_.answer_last(last, answer_of("b")));  // not in the output yet
  EXPECT_TRUE(answer(first, "a"));
  EXPECT_EQ(bodies(), "ab");
  EXPECT_TRUE(line_.empty());
}

TEST_F(AnswerLineTest, ARequestMayAskToBeTheLast) {
  EXPECT_TRUE(answer(line_.add({.keep_alive = false}), ""));
  EXPECT_TRUE(ends_with("Connection: close\r\n\r\n"));
}

TEST_F(AnswerLineTest, ANumberIsNeverGivenTwice) {
  const std::uint64_t answered = line_.add({});
  EXPECT_FALSE(answer(answered, ""));
  const std::uint64_t dropped = line_.add({});
  line_.clear();
  const std::uint64_t next = line_.add({});
  EXPECT_TRUE(line_.waits(next));
  EXPECT_FALSE(line_.waits(answered));
  EXPECT_FALSE(line_.waits(dropped));
  EXPECT_FALSE(line_.waits(next + 1));
}

TEST_F(AnswerLineTest, CountsWhatWaitsBehindOthers) {
  const std::uint64_t first = line_.add({});
  EXPECT_FALSE(answer(line_.add({}), std::string(1000, 'x')));
  const std::size_t behind = line_.unread();
  EXPECT_GT(behind, 1000U);
  EXPECT_EQ(output_.unsent(), 0U);
  EXPECT_FALSE(answer(first, ""));
  EXPECT_GT(output_.unsent(), behind);
  EXPECT_EQ(line_.unread(), output_.unsent());
}

TEST_F(AnswerLineTest, AStreamIsParkedBehindOthers) {
  const std::uint64_t first = line_.add({});
  const std::uint64_t stream = line_.add({});
  EXPECT_FALSE(line_.start_stream(stream));
  EXPECT_TRUE(line_.streams(stream));
  EXPECT_FALSE(line_.waits(stream));
  line_.add_event(stream, 1, "job", "one");
  EXPECT_FALSE(line_.is_streaming());
  EXPECT_EQ(output_.unsent(), 0U);
  const std::size_t parked = line_.unread();
  EXPECT_GT(parked, 0U);

  EXPECT_FALSE(answer(first, ""));
  EXPECT_TRUE(line_.is_streaming());
  EXPECT_EQ(line_.unread(), output_.unsent());
  EXPECT_TRUE(ends_with("id: 1\nevent: job\ndata: one\n\n"));
  line_.add_event(stream, 2, "job", "two");
  EXPECT_TRUE(ends_with("data: one\n\nid: 2\nevent: job\ndata: two\n\n"));

  EXPECT_TRUE(line_.end_stream(stream));
  EXPECT_FALSE(line_.streams(stream));
  EXPECT_TRUE(line_.empty());
}

TEST_F(AnswerLineTest, AStreamThatEndsBehindOthersIsStillTold) {
  const std::uint64_t first = line_.add({});
  const std::uint64_t stream = line_.add({});
  EXPECT_FALSE(line_.start_stream(stream));
  line_.add_event(stream, 1, "job", "one");
  EXPECT_FALSE(line_.end_stream(stream));
  EXPECT_TRUE(answer(first, ""));
  EXPECT_TRUE(ends_with("data: one\n\n"));
  EXPECT_EQ(line_.unread(), output_.unsent());
}

TEST_F(AnswerLineTest, AStreamForHeadEndsWithItsHead) {
  const std::uint64_t number = line_.add({.head_only = true});
  EXPECT_TRUE(line_.is_head_only(number));
  EXPECT_TRUE(line_.start_stream(number));
  EXPECT_TRUE(ends_with(kStreamHead));
  EXPECT_TRUE(line_.empty());
}

// Counted once too little, it would make the count wrap around, and a budget look used up.
TEST_F(AnswerLineTest, AStreamForHeadBehindOthersIsCounted) {
  EXPECT_EQ(line_.add({}), 0U);
  EXPECT_EQ(line_.add({.head_only = true}), 1U);
  (void)line_.start_stream(1);
  EXPECT_GT(line_.unread(), 0U);
  (void)answer(0, "first");
  EXPECT_EQ(line_.unread(), output_.text().size());
}

TEST_F(AnswerLineTest, ReadsThatAreAnsweredDoNotCongest) {
  for (std::size_t i = 0; i < 2 * AnswerLine::kMostReads; ++i) {
    EXPECT_FALSE(line_.is_congested());
    EXPECT_FALSE(answer(line_.add({.reads = true}), ""));
  }
}

struct CongestionCase {
  const char* name;
  std::function<void(AnswerLine&, OutputBuffer&)> just_fits;
  std::function<void(AnswerLine&, OutputBuffer&)> too_much;
};

class Congestion : public AnswerLineTest, public ::testing::WithParamInterface<CongestionCase> {};

TEST_P(Congestion, BeginsAtALimit) {
  limits_.body_bytes = 100;
  limits_.unsent_bytes = 1000;
  GetParam().just_fits(line_, output_);
  EXPECT_FALSE(line_.is_congested());
  GetParam().too_much(line_, output_);
  EXPECT_TRUE(line_.is_congested());
}

INSTANTIATE_TEST_SUITE_P(
    Api, Congestion,
    ::testing::Values(
        CongestionCase{"requests",
                       [](auto& line, auto&) {
                         for (std::size_t i = 1; i < AnswerLine::kLongest; ++i) {
                           line.add({});
                         }
                       },
                       [](auto& line, auto&) { line.add({}); }},
        CongestionCase{"reads",
                       [](auto& line, auto&) {
                         for (std::size_t i = 1; i < AnswerLine::kMostReads; ++i) {
                           line.add({.reads = true});
                         }
                       },
                       [](auto& line, auto&) { line.add({.reads = true}); }},
        CongestionCase{"bodies", [](auto& line, auto&) { line.add({.body_bytes = 100}); },
                       [](auto& line, auto&) { line.add({.body_bytes = 1}); }},
        CongestionCase{"output", [](auto&, auto& output) { output.text().append(1000, 'x'); },
                       [](auto&, auto& output) { output.text() += 'x'; }},
        CongestionCase{"answers_behind_others",
                       [](auto& line, auto&) {
                         line.add({});
                         (void)line.answer(line.add({}), answer_of(std::string(500, 'x')));
                       },
                       [](auto& line, auto&) {
                         (void)line.answer(line.add({}), answer_of(std::string(500, 'x')));
                       }}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace berth
