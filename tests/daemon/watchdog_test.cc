// Watchdog: what a turn did, and how long it took.
#include "daemon/watchdog.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WatchdogTest : public testing::Test {
 protected:
  void work(std::string_view name, Duration length) {
    const auto mark = watchdog_.mark(name);
    now_ += length;
  }

  Time now_{seconds(1'000'000)};
  Watchdog watchdog_{[this] { return now_; }};
};

TEST_F(WatchdogTest, KnowsTheLongestTurnAndWhatItDid) {
  work("commit", milliseconds(20));
  EXPECT_FALSE(watchdog_.end_turn(milliseconds(25)));
  work("GET /v1/jobs", milliseconds(5));
  work("commit", milliseconds(30));
  work("GET /v1/jobs", milliseconds(5));
  EXPECT_FALSE(watchdog_.end_turn(milliseconds(41)));
  work("commit", milliseconds(1));
  EXPECT_FALSE(watchdog_.end_turn(milliseconds(1)));
  EXPECT_EQ(watchdog_.longest().length, milliseconds(41));
  EXPECT_EQ(Watchdog::describe(watchdog_.longest()),
            "commit 0.030 s, GET /v1/jobs 0.010 s (2 times), other 0.001 s");
  EXPECT_EQ(watchdog_.slow_turns(), 0U);
}

TEST_F(WatchdogTest, ASlowTurnIsToldOnce) {
  work("commit", milliseconds(1200));
  EXPECT_TRUE(watchdog_.end_turn(milliseconds(1200)));
  EXPECT_EQ(watchdog_.last().length, milliseconds(1200));
  EXPECT_FALSE(watchdog_.end_turn(milliseconds(1)));
  EXPECT_EQ(watchdog_.slow_turns(), 1U);
}

TEST_F(WatchdogTest, WhatIsWithinAnotherIsNotTheOthers) {
  {
    const auto outer = watchdog_.mark("outer");
    now_ += milliseconds(10);
    work("inner", milliseconds(100));
    now_ += milliseconds(10);
  }
  now_ += milliseconds(3);
  watchdog_.end_turn(milliseconds(123));
  EXPECT_EQ(Watchdog::describe(watchdog_.longest()), "inner 0.100 s, outer 0.020 s, other 0.003 s");
}

TEST_F(WatchdogTest, AMinuteLaterItIsForgottenButForTheLongest) {
  work("commit", milliseconds(500));
  watchdog_.end_turn(milliseconds(500));
  now_ += seconds(50);
  work("commit", milliseconds(5));
  watchdog_.end_turn(milliseconds(5));
  EXPECT_EQ(watchdog_.longest_lately(), milliseconds(500));
  now_ += seconds(30);
  EXPECT_EQ(watchdog_.longest_lately(), milliseconds(5));
  now_ += seconds(100);
  EXPECT_EQ(watchdog_.longest_lately(), Duration{});
  EXPECT_EQ(watchdog_.longest().length, milliseconds(500));
}

}  // namespace
}  // namespace berth
