// Reading logs: which bytes come, and when those who wait are answered.
#include "daemon/log_reader.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "daemon/recording_replies.h"

namespace berth {
namespace {

class Logs : public ::testing::Test {
 protected:
  Logs() {
    std::string pattern = ::testing::TempDir() + "berth-logs-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Logs() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/log"; }
  void write(std::string_view text) { std::ofstream(path(), std::ios::app) << text; }

  LogRequest request() const {
    LogRequest wanted;
    wanted.job = JobId{1};
    wanted.attempt = 1;
    wanted.path = path();
    wanted.user = ::getuid();
    return wanted;
  }
  std::shared_ptr<Received> read(const LogRequest& wanted, Time now = Time{}) {
    auto received = std::make_shared<Received>();
    reader_.read(wanted, std::make_unique<RecordingResponder>(received), now);
    return received;
  }
  /// Body, and what the headers say: "text|attempt|offset|more".
  static std::string text_of(const Received& received) {
    if (!received.response) {
      return "waits";
    }
    std::string text = received.response->body;
    for (const auto& [name, value] : received.response->headers) {
      text += "|" + value;
    }
    return received.response->status == 200 ? text : std::to_string(received.response->status);
  }
  bool is_told() {
    pollfd state{reader_.event_fd(), POLLIN, 0};
    return ::poll(&state, 1, 0) == 1;
  }

  std::string folder_;
  UserFiles files_{[](const std::string&) {}};
  LogReader reader_{files_};
};

struct ReadCase {
  const char* name;
  std::string content;
  std::uint64_t offset;
  std::int64_t tail;
  std::string gets;
};

class LogReads : public Logs, public ::testing::WithParamInterface<ReadCase> {};

TEST_P(LogReads, GiveTheseBytes) {
  const ReadCase& row = GetParam();
  write(row.content);
  LogRequest wanted = request();
  wanted.offset = row.offset;
  wanted.tail = row.tail;
  EXPECT_EQ(text_of(*read(wanted)), row.gets);
  // To wait changes nothing where there is something.
  if (row.gets[0] != '|') {
    wanted.wait = true;
    EXPECT_EQ(text_of(*read(wanted)), row.gets);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, LogReads,
    ::testing::Values(ReadCase{"all", "abc\n", 0, -1, "abc\n|1|4|later"},
                      ReadCase{"from_the_middle", "abc\n", 2, -1, "c\n|1|4|later"},
                      ReadCase{"from_the_end", "abc\n", 4, -1, "|1|4|later"},
                      ReadCase{"beyond_the_end", "abc\n", 99, -1, "|1|99|later"},
                      ReadCase{"empty", "", 0, -1, "|1|0|later"},
                      ReadCase{"no_lines", "a\nb\n", 0, 0, "|1|4|later"},
                      ReadCase{"last_line", "a\nb\n", 0, 1, "b\n|1|4|later"},
                      ReadCase{"last_two", "a\nb\nc\n", 0, 2, "b\nc\n|1|6|later"},
                      ReadCase{"more_than_there_are", "a\nb\n", 0, 9, "a\nb\n|1|4|later"},
                      ReadCase{"unfinished_line", "a\nb", 0, 1, "b|1|3|later"},
                      ReadCase{"blank_lines", "a\n\n\n", 0, 2, "\n\n|1|4|later"},
                      ReadCase{"one_newline", "\n", 0, 1, "\n|1|1|later"},
                      ReadCase{"tail_of_nothing", "", 0, 3, "|1|0|later"},
                      ReadCase{"a_tail_over_blocks", std::string(70'000, 'x') + "\nlast\n", 0, 1,
                               "last\n|1|70006|later"},
                      ReadCase{"a_newline_at_the_edge_of_a_block",
                               "a\n" + std::string(65'536, 'x') + "\n", 0, 1,
                               std::string(65'536, 'x') + "\n|1|65539|later"}),
    [](const auto& row) { return row.param.name; });

TEST_F(Logs, MuchComesInPieces) {
  const std::size_t piece = 256 << 10;
  write(std::string(piece, 'a') + "tail");
  const auto first = read(request());
  EXPECT_EQ(first->response->body, std::string(piece, 'a'));
  EXPECT_EQ(text_of(*first).substr(piece), "|1|262144|now");
  LogRequest rest = request();
  rest.offset = piece;
  rest.over = true;
  EXPECT_EQ(text_of(*read(rest)), "tail|1|262148|no");
}

TEST_F(Logs, ATailLooksBackOnlySoFar) {
  std::filesystem::path file = path();
  std::ofstream(file) << "";
  std::filesystem::resize_file(file, std::uintmax_t{5} << 30);  // 5 GiB without a newline
  LogRequest wanted = request();
  wanted.tail = 1;
  const auto client = read(wanted);
  EXPECT_EQ(text_of(*client).substr(client->response->body.size()),
            "|1|" +
                std::to_string((std::uint64_t{5} << 30) - (std::uint64_t{32} << 20) +
                               (std::uint64_t{256} << 10)) +
                "|now");
}

TEST_F(Logs, AFileThatIsNotThereYetIsEmpty) {
  EXPECT_EQ(text_of(*read(request())), "|1|0|later");
  LogRequest over = request();
  over.over = true;
  over.wait = true;
  EXPECT_EQ(text_of(*read(over)), "|1|0|no");
}

TEST_F(Logs, WhatIsNoFileIsRefused) {
  LogRequest wanted = request();
  wanted.path = "/dev/null";
  EXPECT_EQ(text_of(*read(wanted)), "409");
  wanted.path = folder_;
  EXPECT_EQ(text_of(*read(wanted)), "409");
  wanted.path = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(wanted.path.c_str(), 0600), 0);
  wanted.wait = true;
  EXPECT_EQ(text_of(*read(wanted)), "409");
  wanted.path = path() + "/below/a/file";
  write("x");
  EXPECT_EQ(text_of(*read(wanted)), "500");
}

TEST_F(Logs, WhoWaitsIsAnsweredWhenMoreIsWritten) {
  write("a");
  LogRequest wanted = request();
  wanted.offset = 1;
  wanted.wait = true;
  const auto first = read(wanted);
  const auto second = read(wanted);
  EXPECT_EQ(text_of(*first), "waits");
  EXPECT_FALSE(is_told());
  write("b");
  ASSERT_TRUE(is_told());
  reader_.files_changed();
  EXPECT_EQ(text_of(*first), "b|1|2|later");
  EXPECT_EQ(text_of(*second), "b|1|2|later");
  EXPECT_EQ(reader_.next_deadline(), kNever);
  // Nobody waits, so nobody is woken.
  write("c");
  reader_.files_changed();
  EXPECT_FALSE(is_told());
}

TEST_F(Logs, OneWhoIsFurtherAheadWaitsOn) {
  write("a");
  LogRequest near = request();
  near.offset = 1;
  near.wait = true;
  LogRequest far = near;
  far.offset = 2;
  const auto first = read(near);
  const auto second = read(far);
  write("b");
  reader_.files_changed();
  EXPECT_EQ(text_of(*first), "b|1|2|later");
  EXPECT_EQ(text_of(*second), "waits");
  write("c");
  ASSERT_TRUE(is_told());
  reader_.files_changed();
  EXPECT_EQ(text_of(*second), "c|1|3|later");
}

TEST_F(Logs, AFollowedTailBeginsWhereTheLinesWere) {
  write("a\nb\n");
  LogRequest wanted = request();
  wanted.tail = 0;
  wanted.wait = true;
  const auto client = read(wanted);
  EXPECT_EQ(text_of(*client), "waits");
  write("c\n");
  reader_.files_changed();
  EXPECT_EQ(text_of(*client), "c\n|1|6|later");
}

TEST_F(Logs, TheEndOfTheAttemptAnswers) {
  write("a");
  LogRequest wanted = request();
  wanted.offset = 1;
  wanted.wait = true;
  const auto client = read(wanted);
  reader_.job_changed(JobId{2}, true, Time{});
  EXPECT_EQ(text_of(*client), "waits");
  reader_.job_changed(JobId{1}, true, Time{});
  EXPECT_EQ(text_of(*client), "|1|1|no");
}

TEST_F(Logs, ANewAttemptAnswersWithLater) {
  LogRequest wanted = request();
  wanted.path = "";
  wanted.attempt = 0;
  wanted.wait = true;
  const auto client = read(wanted);
  EXPECT_EQ(text_of(*client), "waits");
  reader_.job_changed(JobId{1}, false, Time{});
  EXPECT_EQ(text_of(*client), "|0|0|later");
}

TEST_F(Logs, NobodyWaitsForEver) {
  write("a");
  LogRequest wanted = request();
  wanted.offset = 1;
  wanted.wait = true;
  const Time now{std::chrono::hours(1)};
  const auto client = read(wanted, now);
  const Time deadline = now + std::chrono::seconds(30);
  EXPECT_EQ(reader_.next_deadline(), deadline);
  reader_.expire(deadline - Duration(1));
  EXPECT_EQ(text_of(*client), "waits");
  reader_.expire(deadline);
  EXPECT_EQ(text_of(*client), "|1|1|later");
  EXPECT_EQ(reader_.next_deadline(), kNever);
}

}  // namespace
}  // namespace berth
