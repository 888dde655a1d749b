#include "drive/length_lessons.h"

namespace berth {

bool LengthLessons::estimate(JobSpec& spec, const Recipe& recipe, uid_t user) const {
  if (spec.expected != kForever) {
    return false;
  }
  spec.expected = learner_.expected(recipe, user);
  return true;
}

void LengthLessons::jobs_wait(JobId first, std::uint32_t count, const Recipe& recipe, uid_t user) {
  for (std::uint32_t i = 0; i < count; ++i) {
    learner_.waiters().add(JobId{first.value + i}, recipe, user, scheduler_.get());
  }
}

void LengthLessons::job_changed(JobId job, const Recipe& recipe, uid_t user, bool learned) {
  learner_.waiters().move(job, learned ? &recipe : nullptr, user, scheduler_.get());
}

void LengthLessons::pass_on(std::size_t most, Time at) {
  if (!learner_.behind()) {
    return;
  }
  for (const Reestimate& change : learner_.changes(scheduler_.get(), most)) {
    scheduler_.tell(change, at);
  }
}

void LengthLessons::learn(const PastRun& run) {
  if (run.length) {
    learner_.learn(run.recipe, run.user, *run.length);
  }
}

}  // namespace berth
