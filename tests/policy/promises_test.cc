// Reservations as conservative backfilling uses them: nobody starts later than promised, however
// early the others end.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/random.h"
#include "policy/reservations.h"

namespace berth {
namespace {

using std::chrono::seconds;

struct Made {
  Time submit;
  Duration length;
  Duration expected;
  Amount amount = 0;
};

std::vector<Made> make_jobs(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<Made> jobs(count);
  Time now{};
  for (Made& job : jobs) {
    now += seconds(random.below(120));
    job.submit = now;
    job.length = seconds(1 + random.below(random.below(10) == 0 ? 10'000 : 300));
    job.expected = job.length * static_cast<int>(1 + random.below(10));
    job.amount = static_cast<Amount>(1 + random.below(random.below(4) == 0 ? 64 : 8)) * kWholeShare;
  }
  return jobs;
}

/// A pool of 64 devices that starts each job at its reservation.
class Pool {
 public:
  explicit Pool(const std::vector<Made>& jobs) : jobs_(jobs), promised_(jobs.size(), kNever) {
    reservations_.clear(Time{}, 64 * kWholeShare);
  }

  /// Returns how many jobs have started later than promised.
  std::size_t run() {
    for (Time now = next(Time{}); now != kNever; now = next(now)) {
      reservations_.forget_before(now);
      take_ends(now);
      for (; arrived_ < jobs_.size() && jobs_[arrived_].submit == now; ++arrived_) {
        const Made& job = jobs_[arrived_];
        reservations_.join(JobId{arrived_}, {{}, job.amount, job.expected});
      }
      reservations_.make_more(now);
      start_due(now);
    }
    return broken_;
  }

  bool all_ran() const { return arrived_ == jobs_.size() && reservations_.in_order().empty(); }

 private:
  Time next(Time now) const {
    Time next = reservations_.next_after(now);
    next = arrived_ < jobs_.size() ? std::min(next, jobs_[arrived_].submit) : next;
    return ends_.empty() ? next : std::min(next, ends_.begin()->first);
  }

  void take_ends(Time now) {
    bool early = false;
    for (; !ends_.empty() && ends_.begin()->first == now; ends_.erase(ends_.begin())) {
      const Made& job = jobs_[ends_.begin()->second];
      const Time due = now + (job.expected - job.length);
      reservations_.give(now, due, job.amount);
      early = early || due > now;
    }
    if (early) {
      reservations_.compress(now);
    }
  }

  void start_due(Time now) {
    for (const auto& [start, id] : reservations_.in_order()) {
      Time& promised = promised_[id.value];
      promised = promised == kNever ? start : promised;
    }
    while (!reservations_.in_order().empty() && reservations_.in_order().begin()->first <= now) {
      const JobId id = reservations_.in_order().begin()->second;
      const Made& job = jobs_[id.value];
      broken_ += now > promised_[id.value] ? 1 : 0;
      reservations_.leave(id);
      reservations_.take(now, now + job.expected, job.amount);
      EXPECT_FALSE(reservations_.is_overdrawn(kNever));
      ends_.emplace(now + job.length, id.value);
    }
  }

  const std::vector<Made>& jobs_;
  Reservations reservations_;
  std::vector<Time> promised_;
  std::multimap<Time, std::size_t> ends_;
  std::size_t arrived_ = 0;
  std::size_t broken_ = 0;
};

TEST(Promises, AreKeptWhenJobsEndEarly) {
  const std::vector<Made> jobs = make_jobs(1, 8000);
  Pool pool(jobs);
  EXPECT_EQ(pool.run(), 0U);
  EXPECT_TRUE(pool.all_ran());
}

}  // namespace
}  // namespace berth
