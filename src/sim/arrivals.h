// Arrivals: the jobs of a workload in the order in which they come, each as the scheduler is told
// of it: with the length that is expected of it, never with the true one.
#pragma once

#include <vector>

#include "core/scheduler.h"
#include "sim/workload.h"

namespace berth {

/// The scheduler knows the jobs of a workload by numbers from 1.
inline JobId id_of(std::size_t job) { return JobId{job + 1}; }
inline std::uint32_t job_of(JobId id) { return static_cast<std::uint32_t>(id.value - 1); }

class Arrivals {
 public:
  /// Borrows both. `when_lost`: a job whose device fails waits to begin again.
  Arrivals(const std::vector<SimJob>& jobs, const std::vector<Duration>& expected, bool when_lost)
      : jobs_(jobs), expected_(expected) {
    submit_.spec.retry.when_lost = when_lost;
  }

  /// When the next job comes; kNever: all are there.
  Time next() const { return is_over() ? kNever : jobs_[arrived_].submit; }
  bool is_over() const { return arrived_ == jobs_.size(); }
  bool is_due(Time now) const { return !is_over() && jobs_[arrived_].submit <= now; }

  /// The next job; the reference is good until the next call.
  const Submit& take();

 private:
  const std::vector<SimJob>& jobs_;
  const std::vector<Duration>& expected_;
  std::size_t arrived_ = 0;
  Submit submit_;  // kept, and with it the memory of its spec
};

}  // namespace berth
