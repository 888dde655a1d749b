// Progress: what is left to do of each job, how fast it gets done, and so when each running job
// ends. An end that is called off stays in the queue; the job's turn tells it from one that counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "sim/workload.h"

namespace berth {

class Progress {
 public:
  /// Borrows the jobs; all of each is to be done.
  explicit Progress(const std::vector<SimJob>& jobs);

  /// Whether nothing has been done of it, or all of that was lost.
  bool is_whole(std::uint32_t job) const { return work_[job].left == jobs_[job].duration; }
  /// More is to be done of a job that does not run.
  void add(std::uint32_t job, Duration more) { work_[job].left += more; }

  void run(std::uint32_t job, float speed, Time now);
  /// A running job goes on at this speed.
  void set_speed(std::uint32_t job, float speed, Time now);
  /// A running job stops; what was done of it remains. Returns whether less is left of it than ever
  /// before.
  bool pause(std::uint32_t job, Time now);
  /// A running job stops, and all of it is to be done again. Returns what was done of it.
  Duration lose(std::uint32_t job, Time now);

  /// When the next job ends; kNever: none runs. Drops the ends before it that were called off.
  Time next_end();
  /// As of the last next_end().
  bool none_runs() const { return ends_.empty(); }
  /// Whether there is an end to take, perhaps one that was called off.
  bool is_due(Time now) const { return !ends_.empty() && ends_.top().when <= now; }
  /// Takes the first end; nothing where that was called off.
  std::optional<std::uint32_t> take_end();

 private:
  struct Work {
    Duration left{};   // at `since`, at speed 1
    Duration least{};  // that it has been
    Time since;
    float speed = 1;
    std::uint32_t turn = 0;
  };
  struct End {
    Time when;
    std::uint32_t job;
    std::uint32_t turn;

    bool operator>(const End& other) const {
      return std::pair(when, job) > std::pair(other.when, other.job);
    }
  };

  static Duration left_now(const Work& work, Time now);
  bool counts(const End& end) const { return end.turn == work_[end.job].turn; }
  void schedule_end(std::uint32_t job, Time now);

  const std::vector<SimJob>& jobs_;
  std::vector<Work> work_;  // by job
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace berth
