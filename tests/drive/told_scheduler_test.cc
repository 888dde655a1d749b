// The one door of a live scheduler: what is told is applied, and written down once.
#include "drive/told_scheduler.h"

#include <gtest/gtest.h>

#include "policy/policies.h"

namespace berth {
namespace {

class ToldSchedulerTest : public testing::Test {
 protected:
  ToldSchedulerTest() {
    scheduler_.add_device({.name = "0", .uuid = "", .model = "", .memory = {}, .locality = {}},
                          at_);
    journal_.clear();
  }

  /// The entries since the last call. What may still become longer is written with the next one.
  std::vector<JournalInput> written() {
    (void)scheduler_.step(at_);
    EXPECT_TRUE(!journal_.empty() && std::holds_alternative<Stepped>(journal_.back()));
    journal_.pop_back();
    return std::exchange(journal_, {});
  }

  JobId submit(const JobSpec& spec = {}) { return *scheduler_.tell(Submit{spec}, at_); }

  Time at_{};
  std::vector<JournalInput> journal_;
  ToldScheduler scheduler_{make_fifo(), Restarted{"fifo"}, at_,
                           [this](const JournalInput& input, Time) { journal_.push_back(input); }};
};

TEST_F(ToldSchedulerTest, WritesEachFactOnce) {
  const JobId job = submit();
  EXPECT_EQ(written().size(), 1U);
  scheduler_.tell(JobStarted{job}, at_);
  scheduler_.tell(JobUse{job, DeviceId{0}, gibibytes(1)}, at_);
  scheduler_.tell(ForeignUse{DeviceId{0}, gibibytes(1)}, at_);
  scheduler_.tell(DeviceChanged{DeviceId{0}, DeviceHealth::Drained}, at_);
  scheduler_.tell(JobExited{job, 0}, at_);
  scheduler_.tell(DeviceTaken{DeviceId{0}}, at_);
  EXPECT_EQ(written().size(), 6U);
  EXPECT_EQ(state_name(scheduler_->find(job)->state), "succeeded");
}

TEST_F(ToldSchedulerTest, WritesNoCommandThatIsRefused) {
  const JobId job = submit();
  JobSpec too_large;
  too_large.needs.gpus = 2;
  EXPECT_FALSE(scheduler_.tell(Submit{too_large}, at_).has_value());
  EXPECT_FALSE(scheduler_.tell(Release{job}, at_).has_value());
  EXPECT_FALSE(scheduler_.tell(Cancel{JobId{99}}, at_).has_value());
  EXPECT_FALSE(scheduler_.tell(Edit{JobId{99}, {}}, at_).has_value());
  EXPECT_EQ(written().size(), 1U);
  EXPECT_TRUE(scheduler_.tell(Cancel{job}, at_).has_value());
  EXPECT_EQ(written().size(), 1U);
}

TEST_F(ToldSchedulerTest, JoinsSubmissionsInARow) {
  submit();
  submit();
  submit();
  EXPECT_EQ(written().size(), 1U);
  // Not those of another time, nor those with something in between.
  submit();
  at_ += std::chrono::seconds(1);
  submit();
  scheduler_.tell(Pause{}, at_);
  submit();
  EXPECT_EQ(written().size(), 4U);
}

TEST_F(ToldSchedulerTest, HasNewsUntilItDecides) {
  (void)scheduler_.step(at_);
  EXPECT_FALSE(scheduler_.has_news());
  EXPECT_FALSE(scheduler_.tell(Release{JobId{1}}, at_).has_value());
  EXPECT_FALSE(scheduler_.has_news());
  submit();
  EXPECT_TRUE(scheduler_.has_news());
  (void)scheduler_.step(at_);
  EXPECT_FALSE(scheduler_.has_news());
}

}  // namespace
}  // namespace berth
