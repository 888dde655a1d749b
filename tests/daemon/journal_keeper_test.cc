// The journal of a daemon that goes on for ever.
#include "daemon/journal_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "drive/journal_player.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class JournalKeeperTest : public ::testing::Test {
 protected:
  JournalKeeperTest() {
    std::string pattern = ::testing::TempDir() + "berth-keeper-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    limits_.bytes = 20'000;
  }
  ~JournalKeeperTest() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// A new process.
  void start() {
    store_.reset();
    store_ = std::move(*Store::open(folder_ + "/berth.db"));
    keeper_ = std::move(*JournalKeeper::make(*store_, limits_, now_, [this] { ++wrote_; }));
    told_.emplace(make_fifo(), Restarted{"fifo"}, now_, [this](const JournalInput& input, Time at) {
      ASSERT_TRUE(store_->journal().append(at, input));
    });
    told_->add_device({"0", "", "", gibibytes(8), {}}, now_);
    turn();
  }

  /// Something happens, it is decided, and the keeper does all that is due.
  void turn() {
    now_ += Duration(seconds(1));
    told_->tell(ForeignUse{DeviceId{0}, mebibytes(++events_ % 100)}, now_);
    told_->step(now_);
    while (keeper_->go_on(*told_, now_)) {
      now_ += Duration(1);
    }
    ASSERT_TRUE(store_->commit());
  }

  std::uint64_t bytes() {
    std::uint64_t all = 0;
    const std::vector<JournalPart> parts = *store_->journal().parts();
    for (const JournalPart& part : parts) {
      all += part.bytes;
    }
    return all;
  }

  /// Whether all that is left can be told to a fresh scheduler, which then has as many jobs.
  void expect_replay() {
    JournalPlayer player;
    const std::vector<JournalEntry> entries = *store_->journal().entries(1, SIZE_MAX / 2);
    for (const JournalEntry& entry : entries) {
      const Result<void> taken = player.take(entry.input, entry.time);
      ASSERT_TRUE(taken) << entry.number << ": " << taken.error().message;
      ASSERT_EQ(player.refusal(), "") << entry.number;
    }
    ASSERT_NE(player.scheduler(), nullptr);
    EXPECT_EQ(player.scheduler()->waiting(), told_->get().waiting());
  }

  std::string folder_;
  JournalKeeper::Limits limits_;
  Time now_{hours(500'000)};
  std::unique_ptr<Store> store_;
  std::unique_ptr<JournalKeeper> keeper_;
  std::optional<ToldScheduler> told_;
  int events_ = 0;
  int wrote_ = 0;
};

TEST_F(JournalKeeperTest, KeepsTheJournalShortAndWhole) {
  start();
  told_->tell(Pause{}, now_);
  for (int i = 0; i < 1500; ++i) {
    if (i % 100 == 0) {
      ASSERT_TRUE(told_->tell(Submit{{}, JobId{static_cast<std::uint64_t>(i) + 1}}, now_));
    }
    turn();
    ASSERT_LT(bytes(), 2 * limits_.bytes);
  }
  EXPECT_GT(store_->journal().next_entry(), 3000U);
  EXPECT_GT(bytes(), limits_.bytes / 3);  // what there is room for is kept
  EXPECT_GT(wrote_, 0);
  expect_replay();
}

TEST_F(JournalKeeperTest, AStartIsABeginningToo) {
  for (int i = 0; i < 100; ++i) {
    start();
    for (int n = 0; n < 10; ++n) {
      turn();
    }
    ASSERT_LT(bytes(), 2 * limits_.bytes);
  }
  EXPECT_GT(store_->journal().parts()->size(), 5U);
  expect_replay();
}

TEST_F(JournalKeeperTest, WhatIsOldGoes) {
  start();
  turn();
  for (int day = 0; day < 30; ++day) {
    now_ += Duration(hours(25));
    turn();
  }
  const std::vector<JournalPart> parts = *store_->journal().parts();
  EXPECT_GE(parts.size(), 6U);
  EXPECT_LE(parts.size(), 9U);
  expect_replay();
}

TEST_F(JournalKeeperTest, ALongQueueIsWrittenInPieces) {
  start();
  told_->tell(Pause{}, now_);
  std::uint64_t next = 1;
  for (int i = 0; i < 30'000; ++i) {
    JobSpec spec;
    spec.priority = i % 2;  // no two in a row are alike
    ASSERT_TRUE(told_->tell(Submit{spec, JobId{next++}}, now_));
  }
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before = store_->journal().next_entry();
    now_ += Duration(seconds(1));
    told_->tell(ForeignUse{DeviceId{0}, mebibytes(i)}, now_);
    told_->step(now_);
    (void)keeper_->go_on(*told_, now_);
    if (i == 10) {
      ASSERT_TRUE(told_->tell(Cancel{JobId{17}}, now_));  // it is written already
    }
    if (i > 0) {
      ASSERT_LT(store_->journal().next_entry() - before, 2500U);
    }
    ASSERT_TRUE(store_->commit());
  }
  expect_replay();
}

}  // namespace
}  // namespace berth
