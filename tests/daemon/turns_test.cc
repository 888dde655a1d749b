#include "daemon/turns.h"

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "daemon/recording_replies.h"
#include "store/fixture.h"

namespace berth {
namespace {

class TurnsTest : public StoreTest {
 protected:
  TurnsTest() { open(); }
  ~TurnsTest() override { set_failpoints(""); }

  Turns& turns() {
    if (!turns_) {
      turns_.emplace(loop_, *store_, clock_, log_);
    }
    return *turns_;
  }
  void write() { EXPECT_OK(store_->settings().set("some", "thing")); }
  bool finish() { return turns().finish(clock_.now()); }
  void disk_is_full() { set_failpoints("store.commit=errno:28"); }
  void disk_has_room() { set_failpoints(""); }

  /// What the loop was given to do, once.
  void loop_once() {
    loop_.post([] {});
    loop_.run([this] { loop_.stop(); });
  }

  Loop loop_;
  DaemonClock clock_;
  DaemonLog log_;
  std::optional<Turns> turns_;
  std::string told_;
};

TEST_F(TurnsTest, EffectsComeAfterTheCommitAndStartsFirst) {
  write();
  turns().after_commit([this] { told_ += "effect "; });
  turns().after_write([this] { told_ += "start "; });
  EXPECT_EQ(told_, "");
  EXPECT_TRUE(finish());
  EXPECT_EQ(told_, "start effect ");
  open();
  EXPECT_EQ(store_->settings().get("some")->value_or(""), "thing");
}

TEST_F(TurnsTest, NothingIsPromisedWhileTheDiskRefuses) {
  const auto received = std::make_shared<Received>();
  disk_is_full();
  write();
  turns().answer(std::make_unique<RecordingResponder>(received), {200, "", "done", {}});
  EXPECT_FALSE(finish());
  EXPECT_TRUE(turns().stuck());
  EXPECT_NE(turns().problem().find("No space left"), std::string::npos) << turns().problem();
  EXPECT_FALSE(received->response);
  disk_has_room();
  EXPECT_TRUE(finish());
  EXPECT_FALSE(turns().stuck());
  ASSERT_TRUE(received->response);
  EXPECT_EQ(received->response->body, "done");
}

TEST_F(TurnsTest, AStartDoesNotWaitForTheDiskAndAnAnswerDoes) {
  const auto received = std::make_shared<Received>();
  set_failpoints("store.sync=errno:5");
  write();
  turns().after_write([this] { told_ += "start "; });
  turns().answer(std::make_unique<RecordingResponder>(received), {200, "", "done", {}});
  EXPECT_FALSE(finish());
  EXPECT_EQ(told_, "start ");
  EXPECT_FALSE(received->response);
  EXPECT_TRUE(turns().stuck());
  disk_has_room();
  EXPECT_TRUE(finish());
  EXPECT_EQ(told_, "start ") << "once";
  EXPECT_TRUE(received->response);
  open();
  EXPECT_EQ(store_->settings().get("some")->value_or(""), "thing");
}

TEST_F(TurnsTest, WhatNobodyWaitsForIsCommittedSoon) {
  write();
  EXPECT_EQ(turns().due(), kNever);
  turns().commit_soon();
  const Time due = turns().due();
  EXPECT_GT(due, clock_.now());
  EXPECT_TRUE(turns().finish(due - Duration(1)));
  EXPECT_EQ(turns().due(), due);
  EXPECT_TRUE(turns().finish(due));
  EXPECT_EQ(turns().due(), kNever);
}

TEST_F(TurnsTest, LongWorkIsDoneInPieces) {
  int left = 3;
  // No time at all: a piece a turn.
  turns().in_pieces([&] { return --left > 0; }, Duration{});
  EXPECT_EQ(left, 2);
  turns().resume_long_work();
  loop_once();
  EXPECT_EQ(left, 1);
  turns().resume_long_work();
  loop_once();
  EXPECT_EQ(left, 0);
  turns().resume_long_work();
  loop_once();
  EXPECT_EQ(left, 0);
}

TEST_F(TurnsTest, WorkThatWritesWaitsForTheDisk) {
  disk_is_full();
  write();
  turns().commit_now();
  EXPECT_FALSE(finish());
  int pieces = 0;
  turns().write_in_pieces([&] { return ++pieces < 2; });
  turns().resume_long_work();
  loop_once();
  EXPECT_EQ(pieces, 0);
  disk_has_room();
  EXPECT_TRUE(finish());
  loop_once();
  EXPECT_EQ(pieces, 2);
}

TEST_F(TurnsTest, AContradictionEndsTheDaemon) {
  EXPECT_DEATH(turns().check(fail(ErrorCode::NotFound, "there is no job 7")),
               "the records contradict what this daemon knows .there is no job 7.");
}

}  // namespace
}  // namespace berth
