// What an attempt used, thinned as it grows, and its file.
#include "daemon/usage_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "daemon/usage_book.h"
#include "store/coding.h"

namespace berth {
namespace {

Time milliseconds_in(std::int64_t milliseconds) {
  return Time(std::chrono::seconds(1'700'000'000) + std::chrono::milliseconds(milliseconds));
}

std::string text(const UsageLog& log) {
  std::string result;
  for (std::size_t i = 0; i < log.points(); ++i) {
    result +=
        std::to_string((log.time(i) - milliseconds_in(0)) / std::chrono::milliseconds(1)) + ":";
    for (std::size_t device = 0; device < log.devices().size(); ++device) {
      const auto busy = log.utilization(i, device);
      result += " " + std::to_string(log.memory(i, device).count) + "/" +
                (busy ? std::to_string(static_cast<int>(*busy)) : "?");
    }
    result += "; ";
  }
  return result;
}

TEST(UsageLog, PutsReadingsOfASecondTogether) {
  UsageLog log({"0", "1"});
  EXPECT_EQ(log.points(), 0U);
  log.add(milliseconds_in(0), {{Bytes{5}, 10}, {Bytes{1}, std::nullopt}});
  log.add(milliseconds_in(999), {{Bytes{3}, 20}, {Bytes{2}, std::nullopt}});
  log.add(milliseconds_in(1000), {{Bytes{7}, 30}, {Bytes{2}, 4}});
  log.add(milliseconds_in(5500), {{Bytes{7}, std::nullopt}, {Bytes{2}, 4}});
  EXPECT_EQ(text(log), "0: 5/15 2/?; 1000: 7/30 2/4; 5000: 7/? 2/4; ");
}

TEST(UsageLog, IsThinnedAsItGrows) {
  UsageLog log({"0"});
  for (int i = 0; i < 100'000; ++i) {
    log.add(milliseconds_in(i * 1000), {{Bytes{i}, i % 2 == 0 ? 0 : 100}});
    ASSERT_LE(log.points(), UsageLog::kMostPoints);
  }
  EXPECT_GE(log.points(), UsageLog::kMostPoints / 2);
  EXPECT_EQ(log.time(0), milliseconds_in(0));
  EXPECT_EQ(log.time(1) - log.time(0), std::chrono::seconds(256));
  EXPECT_EQ(log.memory(0, 0), Bytes{255}) << "the highest stays";
  EXPECT_EQ(log.utilization(0, 0), 50);
  EXPECT_EQ(log.memory(log.points() - 1, 0), Bytes{99'999});
}

TEST(UsageLog, GoesThroughAFile) {
  UsageLog log({"a", "<b>"});
  for (int i = 0; i < 50; ++i) {
    log.add(milliseconds_in(i * 1700), {{Bytes{1'000'000'000 - i}, i}, {Bytes{}, std::nullopt}});
  }
  const std::string bytes = log.encode();
  const std::optional<UsageLog> again = UsageLog::decode(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(text(*again), text(log));
  EXPECT_EQ(again->devices(), log.devices());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(UsageLog::decode(bytes.substr(0, length))) << length;
  }
}

TEST(UsageLog, BelievesNoFileWithTimesThatCannotBe) {
  const auto file = [](std::int64_t begun, std::int64_t width, std::vector<std::int64_t> steps,
                       std::int64_t memory) {
    Encoder out;
    out.number(1).integer(begun).integer(width).list({"0"}).number(steps.size());
    for (const std::int64_t step : steps) {
      out.integer(step).integer(memory).number(1);
    }
    return UsageLog::decode(out.bytes());
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kNow = 1'700'000'000'000'000'000;
  ASSERT_TRUE(file(kNow, 1, {0, 1, 5}, 7));
  EXPECT_FALSE(file(kNow, 1'000'000'000, {128'000'006'336}, 7)) << "the product is too large";
  EXPECT_FALSE(file(kNow, 1, {kMost, kMost}, 7)) << "the sum is too large";
  EXPECT_FALSE(file(kNow, kMost, {0}, 7));
  EXPECT_FALSE(file(kMost, 1, {0}, 7));
  EXPECT_FALSE(file(-1, 1, {0}, 7));
  EXPECT_FALSE(file(kNow, 1, {-1}, 7));
  EXPECT_FALSE(file(kNow, 1, {5, 0}, 7)) << "time goes on";
  EXPECT_FALSE(file(kNow, 1, {0, 1}, kMost)) << "memory is a sum, too";
  EXPECT_FALSE(file(kNow, 1, {0}, -1));
}

TEST(UsageLog, KeepsEnergyAndPeaks) {
  UsageLog log({"0", "1"});
  log.add(milliseconds_in(0), {{Bytes{5}, 1}, {Bytes{9}, 1}});
  log.add(milliseconds_in(3000), {{Bytes{7}, 1}, {Bytes{2}, 1}});
  EXPECT_FALSE(UsageLog::decode(log.encode())->energy());
  log.set_energy(1234.5);
  const UsageLog read = *UsageLog::decode(log.encode());
  EXPECT_EQ(read.energy(), 1234.5);
  EXPECT_EQ(read.peaks(), (std::vector<Bytes>{Bytes{7}, Bytes{9}}));
}

TEST(UsageBook, KeepsWhatHasEnded) {
  std::string folder = ::testing::TempDir() + "berth-usage-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const UsageBook::Attempt first{JobId{7}, 1};
  const UsageBook::Attempt second{JobId{7}, 2};
  UsageBook book;
  book.open(folder + "/usage");
  book.add(first, {"0"}, milliseconds_in(0), {{Bytes{5}, 1}});
  EXPECT_EQ(text(*book.find(first)), "0: 5/1; ");
  EXPECT_FALSE(book.find(second));
  book.end(first);
  book.add(second, {"0"}, milliseconds_in(0), {{Bytes{6}, 1}});
  book.add(second, {"0"}, milliseconds_in(60'000), {{Bytes{8}, 1}});
  UsageBook next;  // of the next daemon, after a crash
  next.open(folder + "/usage");
  EXPECT_EQ(text(*next.find(first)), "0: 5/1; ");
  next.add(second, {"0"}, milliseconds_in(61'000), {{Bytes{9}, 1}});
  EXPECT_EQ(text(*next.find(second)), "0: 6/1; 60000: 8/1; 61000: 9/1; ");
  next.remove(first);
  EXPECT_FALSE(next.find(first));
  next.end(second);
  std::ofstream(folder + "/usage/7.2") << "torn";
  EXPECT_FALSE(next.find(second));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace berth
