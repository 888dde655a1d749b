// LengthLessons: how long jobs turn out to run, and what follows for those that wait: jobs whose
// users gave no length are expected to run as long as others of their recipe. MemoryLessons, which
// owns the file of what past jobs did, tells it of them. Owned by the driver's thread.
#pragma once

#include <sys/types.h>

#include "core/length_learner.h"
#include "drive/told_scheduler.h"
#include "memory/past_run.h"

namespace berth {

class LengthLessons {
 public:
  explicit LengthLessons(ToldScheduler& scheduler) : scheduler_(scheduler) {}

  const LengthBook& book() const { return learner_.book(); }
  /// Sets the length of a job that is about to be submitted, if its user gave none. True if so:
  /// call jobs_wait() then.
  bool estimate(JobSpec& spec, const Recipe& recipe, uid_t user) const;
  /// These jobs wait, and their user gave no length. It changes when more is known.
  void jobs_wait(JobId first, std::uint32_t count, const Recipe& recipe, uid_t user);
  /// A waiting job has become another, with a length of its own or (`learned`) without.
  void job_changed(JobId job, const Recipe& recipe, uid_t user, bool learned);

  /// Passes on to waiting jobs what has been learned since. Looks at no more than `most` of them:
  /// call it again while behind().
  void pass_on(std::size_t most, Time at);
  bool behind() const { return learner_.behind(); }

  /// A job has ended well. Tell it before the scheduler hears of the end, so that the lengths of
  /// waiting jobs are better known when the scheduler decides which comes next.
  void learn(const PastRun& run);
  void forget() { learner_.forget(); }

 private:
  ToldScheduler& scheduler_;
  LengthLearner learner_;
};

}  // namespace berth
