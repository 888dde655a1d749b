// How often jobs start within the interval that was given for them.
#include "core/start_intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// Jobs that are forecast and start, one after the other. The wait is the forecast one times a
/// factor between 1/2 and 2, times `late`.
class Starts {
 public:
  explicit Starts(std::uint64_t seed) : random_(seed) {}

  /// The share of `count` starts that lay within their interval; 0 when there was none.
  double covered(int count, double late) {
    int given = 0;
    int held = 0;
    for (int i = 0; i < count; ++i) {
      const JobId job{++last_};
      now_ += hours(6);  // longer than any forecast reaches
      const Time forecast = now_ + minutes(random_.below(300));
      const double factor = late * std::exp2(static_cast<double>(random_.below(2001)) / 1e3 - 1);
      const Time start = now_ + std::chrono::duration_cast<Duration>((forecast - now_) * factor);
      if (const auto interval = intervals.around(forecast, now_)) {
        ++given;
        held += static_cast<int>(interval->holds(start));
      }
      intervals.note(job, forecast, now_);
      intervals.started(job, start);
    }
    return given == 0 ? 0 : static_cast<double>(held) / given;
  }

  StartIntervals intervals;

 private:
  Random random_;
  std::uint64_t last_ = 0;
  Time now_{};
};

TEST(StartIntervals, NineOfTenStartsLieWithinTheirInterval) {
  Starts starts(1);
  const double covered = starts.covered(20'000, 1);
  EXPECT_GE(covered, 0.88);
  EXPECT_LE(covered, 0.92);
}

TEST(StartIntervals, KeepThePromiseAgainAfterWaitsHaveChanged) {
  Starts starts(2);
  (void)starts.covered(5'000, 1);
  EXPECT_LT(starts.covered(50, 3), 0.7);
  (void)starts.covered(2'000, 3);  // 100 and more of each band
  const double covered = starts.covered(10'000, 3);
  EXPECT_GE(covered, 0.88);
  EXPECT_LE(covered, 0.92);
}

TEST(StartIntervals, PromiseNothingAfterFewStarts) {
  StartIntervals intervals;
  Time now{};
  for (std::uint64_t i = 1; i <= StartIntervals::kLeastErrors; ++i) {
    now += hours(1);
    EXPECT_FALSE(intervals.around(now + minutes(10), now)) << i;
    intervals.note(JobId{i}, now + minutes(10), now);
    intervals.note(JobId{i}, now + minutes(11), now);  // counts once
    intervals.started(JobId{i}, now + minutes(10 + i));
    intervals.started(JobId{i}, now + minutes(90));  // again: nothing was forecast
  }
  const std::optional<StartInterval> interval = intervals.around(now + minutes(10), now);
  ASSERT_TRUE(interval);
  EXPECT_LE(interval->from, now + minutes(13));
  EXPECT_GE(interval->to, now + minutes(29));
  EXPECT_LE(interval->to, now + minutes(31));
  // Forecasts that reach further have not been judged yet.
  EXPECT_FALSE(intervals.around(now + minutes(100), now));
}

/// Jobs of one burst are late together.
TEST(StartIntervals, LetOneJobStandForABurst) {
  StartIntervals intervals;
  const Time now{};
  for (std::uint64_t i = 1; i <= 500; ++i) {
    intervals.note(JobId{i}, now + minutes(10), now);
  }
  EXPECT_EQ(intervals.noted(), 1U);
  intervals.note(JobId{501}, now + minutes(11), now + minutes(1));  // too soon after the burst
  EXPECT_EQ(intervals.noted(), 1U);
  intervals.note(JobId{501}, now + minutes(20), now + minutes(10));
  EXPECT_EQ(intervals.noted(), 2U);
}

TEST(StartIntervals, RememberABoundedNumberOfJobs) {
  StartIntervals intervals;
  Time now{};
  for (std::uint64_t i = 1; i <= 2 * StartIntervals::kMostJobs; ++i) {
    now += hours(1);
    intervals.note(JobId{i}, now + minutes(10), now);
  }
  EXPECT_EQ(intervals.noted(), StartIntervals::kMostJobs);
  intervals.keep([](JobId job) { return job.value <= 10; });
  EXPECT_EQ(intervals.noted(), 10U);
}

TEST(StartIntervals, TakeAnyTime) {
  StartIntervals intervals;
  Time now{};
  for (std::uint64_t i = 1; i <= 30; ++i) {
    now += hours(1000);
    intervals.note(JobId{i}, now + hours(1'000'000), now);
    intervals.note(JobId{i}, now - minutes(1), now);  // it is late already
    intervals.started(JobId{i}, now + hours(2'000'000));
  }
  const auto late = intervals.around(now - minutes(1), now);
  ASSERT_TRUE(late);
  EXPECT_GE(late->from, now);
  ASSERT_TRUE(intervals.around(now + hours(1'000'000), now));
}

}  // namespace
}  // namespace berth
