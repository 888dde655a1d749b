// What is due on a connection, and when.
#include "api/connection_clock.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using std::chrono::seconds;

constexpr ConnectionClock::Time kStart{seconds(1000)};

HttpServer::Limits short_times() {
  HttpServer::Limits limits;
  limits.idle = seconds(60);
  limits.stranger_idle = seconds(10);
  limits.heartbeat = seconds(15);
  return limits;
}

TEST(ConnectionClock, AStrangerHasLittleTimeUntilItIsKnown) {
  const HttpServer::Limits limits = short_times();
  ConnectionClock clock(limits, true, kStart);
  EXPECT_FALSE(clock.is_due(kStart + seconds(9)));
  EXPECT_TRUE(clock.is_due(kStart + seconds(10)));
  clock.meet();
  EXPECT_TRUE(clock.is_due(kStart + seconds(10)));  // from the next start on
  clock.restart(kStart + seconds(5));
  EXPECT_FALSE(clock.is_due(kStart + seconds(64)));
  EXPECT_TRUE(clock.is_due(kStart + seconds(65)));
}

TEST(ConnectionClock, AStrangerNeverHasMoreTimeThanAUser) {
  HttpServer::Limits limits = short_times();
  limits.idle = seconds(3);
  EXPECT_TRUE(ConnectionClock(limits, true, kStart).is_due(kStart + seconds(3)));
}

TEST(ConnectionClock, DrainingHasItsOwnDeadlineAndIsNoActivity) {
  const HttpServer::Limits limits = short_times();
  ConnectionClock clock(limits, false, kStart);
  clock.start_draining(kStart + seconds(1));
  EXPECT_FALSE(clock.is_due(kStart + seconds(1)));
  EXPECT_TRUE(clock.is_due(kStart + seconds(1) + ConnectionClock::kDrain));
  EXPECT_EQ(clock.active(), kStart);
}

TEST(ConnectionClock, HeartbeatsAreAnIntervalApart) {
  const HttpServer::Limits limits = short_times();
  ConnectionClock clock(limits, false, kStart);
  clock.start_heartbeat(kStart);
  EXPECT_FALSE(clock.beats(kStart + seconds(14)));
  EXPECT_TRUE(clock.beats(kStart + seconds(20)));
  EXPECT_FALSE(clock.beats(kStart + seconds(34)));
  EXPECT_TRUE(clock.beats(kStart + seconds(35)));
}

}  // namespace
}  // namespace berth
