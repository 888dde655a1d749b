// The redo log: what was committed is there although the tables never saw it.
#include "store/redo_log.h"

#include <fcntl.h>

#include "store/fixture.h"

namespace berth {
namespace {

/// A copy of the files as a kill -9 would leave them now.
std::string copy_of(const std::string& folder) {
  std::string copy = folder + "-copy";
  std::filesystem::remove_all(copy);
  std::filesystem::copy(folder, copy);
  return copy;
}

class RedoTest : public StoreTest {
 protected:
  ~RedoTest() override { std::filesystem::remove_all(folder_ + "-copy"); }

  /// The store as whoever comes after a crash now finds it.
  std::unique_ptr<Store> after_crash() {
    Result<std::unique_ptr<Store>> opened = Store::open(copy_of(folder_) + "/berth.db");
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return std::move(*opened);
  }
};

TEST_F(RedoTest, WhatIsWrittenOutlivesTheProcess) {
  open();
  const JobId job = add(*store_, job_named("written"));
  EXPECT_OK(store_->write());
  EXPECT_TRUE(after_crash()->jobs().record(job).has_value());
  add(*store_, job_named("only told"));
  EXPECT_EQ(after_crash()->jobs().next_id().value, job.value + 1);
}

TEST_F(RedoTest, TheTablesAreWrittenWhenNothingWaitsForThatAlone) {
  open();
  const std::string log = path_ + "-wal";
  const auto before = std::filesystem::file_size(log);
  // More than a commit of the database takes at once, in three goes.
  for (int i = 0; i < 12'000; ++i) {
    EXPECT_OK(store_->settings().set("name", std::to_string(i)));
    if (i % 4'000 == 3'999) {
      EXPECT_OK(store_->write());
    }
  }
  EXPECT_EQ(std::filesystem::file_size(log), before);
  EXPECT_OK(store_->sync());
  EXPECT_GT(std::filesystem::file_size(log), before);
  EXPECT_EQ(after_crash()->settings().get("name")->value_or(""), "11999");
}

TEST_F(RedoTest, EveryKindOfChangeComesBackAsItWas) {
  open();
  JobDescription full = job_named("full \"name\"");
  full.spec.needs = {2, 300, mebibytes(512), ClaimSource::Given, "A100", {"0"}, {"1"}, {"2", "3"}};
  full.spec.priority = -7;
  full.spec.expected = std::chrono::minutes(5);
  full.spec.limit = std::chrono::hours(1);
  full.spec.warn_before = std::chrono::seconds(60);
  full.spec.begin = at(100);
  full.spec.retry = {3, std::chrono::seconds(2), false, true, true};
  full.project = "vision";
  full.output = "out-%j";
  full.error = "err-%j";
  full.labels = {{"team", "a"}, {"x", ""}};
  full.sweep = "s";
  full.parameters = {{"lr", "0.1"}};
  full.array_index = 4;
  full.warning_signal = 10;
  full.user = 1000;
  const JobId first = add(*store_, full);
  const JobId second = add(*store_, job_named("plain"));
  JobDescription follower = job_named("follower");
  follower.spec.after = {{first, Dependency::When::NotOk}};
  follower.spec.held = true;
  const JobId third = add(*store_, follower);
  const JobId forgotten = add(*store_, job_named("forgotten"));
  EXPECT_OK(store_->jobs().remember_token(5, "token", {first, 2}));
  EXPECT_OK(store_->jobs().set_waiting(third, false, at(9)));
  EXPECT_OK(store_->jobs().amend(second, full.spec, "amended", "false"));
  EXPECT_OK(store_->jobs().set_claim(third, gibibytes(3), 2));
  EXPECT_OK(store_->settings().set("name", std::string("va\0lue", 6)));
  EXPECT_OK(store_->attempts().begin({first, 1, {"0", "1"}, at(1), kNever, 0, "/o", "/e", {}}));
  EXPECT_OK(store_->attempts().start(first, 1, 4242, at(2)));
  EXPECT_OK(store_->attempts().set_stopping(first, Stopping::TimeLimit));
  Ending end = ending(Outcome::TimedOut, at(3));
  end.reason = EndReason::TimeLimit;
  end.exit_code = 3;
  end.signal = 15;
  end.peak = mebibytes(100);
  end.peaks = {mebibytes(100), mebibytes(7)};
  end.gpu_time = std::chrono::seconds(9);
  end.energy = 12.75;
  end.message = "too long";
  EXPECT_OK(store_->attempts().end(first, 1, end));
  EXPECT_OK(store_->jobs().end(first, end));
  EXPECT_OK(store_->journal().append(at(4), Submit{{}, first, 2}));
  EXPECT_OK(store_->journal().append(at(5), Cancel{second}));
  EXPECT_OK(store_->journal().forget_before(2));
  EXPECT_OK(store_->jobs().end(forgotten, ending(Outcome::Cancelled, at(1))));
  ForgetQuery query;
  query.phases = {JobPhase::Cancelled};
  EXPECT_OK(store_->jobs().forget(query));
  ASSERT_TRUE(store_->commit());

  const std::unique_ptr<Store> found = after_crash();
  for (const JobId job : {first, second, third}) {
    EXPECT_EQ(text(*found->jobs().record(job)), text(*store_->jobs().record(job)));
  }
  EXPECT_FALSE(found->jobs().record(forgotten).has_value());
  EXPECT_EQ(text(found->attempts().of(first)->front()),
            text(store_->attempts().of(first)->front()));
  EXPECT_EQ(found->attempts().of(first)->front().ending->peaks, end.peaks);
  EXPECT_EQ((*found->jobs().find_token(5, "token"))->first, first);
  EXPECT_EQ(**found->settings().get("name"), std::string("va\0lue", 6));
  EXPECT_OK(found->jobs().for_each_live([&](const LiveJob& job) {
    if (job.id == third) {
      EXPECT_EQ(job.claim, gibibytes(3));
      EXPECT_EQ(job.memory_retries, 2);
      EXPECT_EQ(job.command, "true");
    }
  }));
  EXPECT_EQ(found->jobs().counts(), store_->jobs().counts());
  EXPECT_EQ(found->jobs().next_id(), store_->jobs().next_id());
  EXPECT_EQ(found->journal().entries(1, 10)->size(), 1U);
  EXPECT_EQ(found->journal().next_entry(), 3U);
}

TEST_F(RedoTest, GoesOnAfterACrashAndAfterTheNext) {
  open();
  for (std::uint64_t round = 1; round <= 3; ++round) {
    add(*store_, job_named(std::to_string(round)));
    ASSERT_TRUE(store_->commit());
    const std::string copy = copy_of(folder_);
    store_.reset();
    std::filesystem::remove_all(folder_);
    std::filesystem::rename(copy, folder_);
    open();
    EXPECT_EQ(store_->jobs().counts()[1], round);
  }
}

TEST_F(RedoTest, ATornEntryAndWhatFollowsAreNotBelieved) {
  open();
  for (int i = 0; i < 3; ++i) {
    add(*store_, job_named(std::to_string(i)));
    ASSERT_TRUE(store_->commit());
  }
  const std::string copy = copy_of(folder_);
  std::string log = contents(copy + "/berth.db-redo");
  const std::size_t second = log.find("true", log.find("true") + 1);
  log[second] = 'T';
  std::ofstream(copy + "/berth.db-redo", std::ios::binary) << log;
  const Result<std::unique_ptr<Store>> found = Store::open(copy + "/berth.db");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)->jobs().counts()[1], 1U);
}

TEST_F(RedoTest, TheLogOfAnotherDatabaseIsNotTaken) {
  open();
  add(*store_, job_named("theirs"));
  ASSERT_TRUE(store_->commit());
  const std::string copy = copy_of(folder_);
  std::filesystem::remove(copy + "/berth.db-wal");
  ASSERT_TRUE(Store::open(copy + "/other.db"));
  std::filesystem::rename(copy + "/other.db", copy + "/berth.db");
  const Result<std::unique_ptr<Store>> found = Store::open(copy + "/berth.db");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)->jobs().next_id(), JobId{1});
}

TEST_F(RedoTest, AFullLogGoesIntoTheTables) {
  open();
  JobDescription large = job_named("large");
  large.command = std::string(500'000, 'x');
  for (std::uint64_t i = 1; i <= 12; ++i) {
    add(*store_, large);
    ASSERT_TRUE(store_->commit());
    EXPECT_EQ(after_crash()->jobs().counts()[1], i);
  }
  large.command = std::string(3'000'000, 'x');  // more than the log can ever hold
  add(*store_, large);
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(after_crash()->jobs().counts()[1], 13U);
}

}  // namespace
}  // namespace berth
