#include "daemon/daemon_clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "store/fixture.h"

namespace berth {
namespace {

constexpr Duration kHour = std::chrono::hours(1);

class DaemonClockTest : public StoreTest {
 protected:
  DaemonClockTest() { open(); }
  ~DaemonClockTest() override { set_wall({}); }

  static void set_wall(Duration ahead) {
    ::setenv("BERTH_CLOCK_OFFSET",
             std::to_string(ahead / Duration(std::chrono::seconds(1))).c_str(), 1);
  }
  /// A daemon that starts, writes down that it did, and ends.
  DaemonClock daemon(const std::string& boot) {
    DaemonClock clock;
    EXPECT_OK(clock.go_on(*store_, boot, log_));
    EXPECT_OK(store_->journal().append(clock.now(), Pause{}));
    EXPECT_OK(store_->commit());
    return clock;
  }
  static bool near(Duration a, Duration b) {
    return std::chrono::abs(a - b) < std::chrono::minutes(1);
  }

  DaemonLog log_;
};

TEST_F(DaemonClockTest, BeginsWithTheWallClock) {
  EXPECT_TRUE(near(daemon("a").now().time_since_epoch(), DaemonClock::wall()));
}

TEST_F(DaemonClockTest, DoesNotGoBackBehindWhatWasWrittenDown) {
  set_wall(kHour);
  daemon("a");
  const Time written =
      store_->journal().entries(store_->journal().next_entry() - 1, 1)->front().time;
  set_wall({});
  EXPECT_GE(daemon("b").now(), written);
}

TEST_F(DaemonClockTest, TakesThePastForWrongAfterMoreThanADay) {
  set_wall(30 * kHour);
  daemon("a");
  set_wall({});
  EXPECT_TRUE(near(daemon("b").now().time_since_epoch(), DaemonClock::wall()));
}

TEST_F(DaemonClockTest, TellsByHowMuchTheClockWasSetWithinABoot) {
  EXPECT_EQ(daemon("a").shift(), Duration{});
  EXPECT_EQ(daemon("a").shift(), Duration{});
  set_wall(2 * kHour);
  EXPECT_TRUE(near(daemon("a").shift(), 2 * kHour));
  set_wall(4 * kHour);
  EXPECT_EQ(daemon("b").shift(), Duration{}) << "of another boot nothing is known";
}

TEST_F(DaemonClockTest, TurnsTimesOfOthersIntoItsOwn) {
  const DaemonClock clock = daemon("a");
  set_wall(kHour);  // somebody sets the clock while it runs
  const Duration wall = DaemonClock::wall();
  EXPECT_TRUE(
      near(clock.from_wall(wall.count()).time_since_epoch(), clock.now().time_since_epoch()));
}

}  // namespace
}  // namespace berth
