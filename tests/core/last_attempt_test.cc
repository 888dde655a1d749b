// Attempts have numbers, and these have an end.
#include <gtest/gtest.h>

#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

// However many retries a job deserves: there is no number for another attempt. Its followers hear
// of it as of every end.
TEST(LastAttempt, EndsTheJob) {
  Scheduler scheduler(make_fifo(), {});
  scheduler.add_device({.name = "0", .uuid = "", .model = "", .memory = {}, .locality = {}});
  Restore restored{JobId{1}, {}, Time{}, 65535, Running{{DeviceId{0}}, Time{}}};
  restored.spec.retry.when_lost = true;
  scheduler.apply(restored, Time{});
  Submit follower;
  follower.spec.after = {{JobId{1}, Dependency::When::NotOk}};
  ASSERT_TRUE(scheduler.apply(follower, Time{}).has_value());

  scheduler.apply(JobLost{JobId{1}}, Time{});

  EXPECT_EQ(state_name(scheduler.find(JobId{1})->state), "lost");
  (void)scheduler.step(Time{});
  EXPECT_EQ(state_name(scheduler.find(JobId{2})->state), "starting");
  EXPECT_EQ(scheduler.broken_invariant(Time{}), "");
}

}  // namespace
}  // namespace berth
