#include "sim/progress.h"

#include <algorithm>

namespace berth {

Progress::Progress(const std::vector<SimJob>& jobs) : jobs_(jobs), work_(jobs.size()) {
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    work_[job].left = work_[job].least = jobs[job].duration;
  }
}

void Progress::run(std::uint32_t job, float speed, Time now) {
  Work& work = work_[job];
  work.since = now;
  work.speed = speed;
  schedule_end(job, now);
}

void Progress::set_speed(std::uint32_t job, float speed, Time now) {
  Work& work = work_[job];
  if (speed == work.speed) {
    return;
  }
  work.left = left_now(work, now);
  ++work.turn;
  run(job, speed, now);
}

bool Progress::pause(std::uint32_t job, Time now) {
  Work& work = work_[job];
  work.left = left_now(work, now);
  ++work.turn;
  const bool has_got_on = work.left < work.least;
  work.least = std::min(work.least, work.left);
  return has_got_on;
}

Duration Progress::lose(std::uint32_t job, Time now) {
  Work& work = work_[job];
  const Duration done = jobs_[job].duration - left_now(work, now);
  work.left = work.least = jobs_[job].duration;
  ++work.turn;
  return done;
}

Time Progress::next_end() {
  while (!ends_.empty() && !counts(ends_.top())) {
    ends_.pop();
  }
  return ends_.empty() ? kNever : ends_.top().when;
}

std::optional<std::uint32_t> Progress::take_end() {
  const End end = ends_.top();
  ends_.pop();
  return counts(end) ? std::optional(end.job) : std::nullopt;
}

Duration Progress::left_now(const Work& work, Time now) {
  const Duration passed = now - work.since;
  const Duration done =
      work.speed == 1 ? passed : std::chrono::duration_cast<Duration>(passed * double{work.speed});
  return std::max(work.left - done, Duration{});
}

void Progress::schedule_end(std::uint32_t job, Time now) {
  const Work& work = work_[job];
  const Duration takes = work.speed == 1
                             ? work.left
                             : std::chrono::duration_cast<Duration>(work.left / double{work.speed});
  ends_.push({add_saturating(now, takes), job, work.turn});
}

}  // namespace berth
