// A cancel is final.
#include <gtest/gtest.h>

#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

// The cancel and the failure to start may cross. The job's retries are no reason to try again.
TEST(Cancel, HoldsForAJobThatCannotBeStarted) {
  Scheduler scheduler(make_fifo(), {});
  scheduler.add_device({.name = "0", .uuid = "", .model = "", .memory = {}, .locality = {}});
  Submit submit;
  submit.spec.retry.most = 3;
  const JobId job = *scheduler.apply(submit, Time{});
  (void)scheduler.step(Time{});
  ASSERT_TRUE(scheduler.apply(Cancel{job}, Time{}).has_value());

  scheduler.apply(JobExited{job, 127, 0, false}, Time{});

  EXPECT_EQ(state_name(scheduler.find(job)->state), "failed");
}

}  // namespace
}  // namespace berth
