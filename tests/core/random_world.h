// RandomWorld: a driver of the scheduler that draws everything from a seed: what users want, how
// jobs end, what devices do. It sends every kind of input. After each input it checks the scheduler
// against what must be true.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/scheduler.h"

namespace berth {

class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed);

  /// Runs `turns` turns, and then until all jobs have ended. Returns what went wrong; empty if
  /// nothing did.
  std::string run(int turns);

  /// How many inputs the scheduler was given; decisions are not counted.
  std::uint64_t inputs() const { return inputs_; }

 private:
  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  std::uint32_t number(std::uint64_t below) {
    return static_cast<std::uint32_t>(random_.below(below));
  }
  Duration time_below(std::uint64_t most) { return std::chrono::seconds(random_.below(most)); }
  Bytes memory_below(std::uint64_t gib) {
    return gibibytes(static_cast<std::int64_t>(random_.below(gib)));
  }
  JobId any(const std::vector<JobId>& jobs) { return jobs[random_.below(jobs.size())]; }
  JobId any(const std::set<JobId>& jobs);
  DeviceId device() { return DeviceId{number(scheduler_->devices().size())}; }

  /// Gives an input to the scheduler and checks the scheduler at once. Returns whether the input
  /// was accepted.
  template <class Input>
  bool tell(const Input& input) {
    ++inputs_;
    bool done = true;
    if constexpr (requires { static_cast<bool>(scheduler_->apply(input, now_)); }) {
      done = static_cast<bool>(scheduler_->apply(input, now_));
    } else if constexpr (requires { scheduler_->apply(input, now_); }) {
      scheduler_->apply(input, now_);
    } else {
      scheduler_->apply(input);
    }
    check();
    return done;
  }
  /// Checks the scheduler and keeps the first problem.
  void check();
  void complain(const std::string& problem);

  // Inputs (random_inputs.cc).
  std::unique_ptr<Policy> make_any_policy();
  void add_device();
  void input();
  JobSpec any_spec();
  void submit();
  JobId any_recent();
  void command(JobId job);
  void edit(JobId job);
  void use_memory();
  void end_one();
  void change_device();
  void switch_policy();
  void restart();
  void rerun();

  // Actions of the scheduler (random_world.cc).
  void step();
  void take(const StartJob& action);
  void take(const StopJob& action);
  void take(const WarnJob& action);
  void take(const JobEnded& action);
  void take(const JobRequeued& action);
  void take(const PreemptJob& action);
  bool refuse_some();
  bool put_back_some();
  void start_some();
  void check_idle_devices();
  void drain();

  Random random_;
  Scheduler::Config config_;
  std::unique_ptr<Scheduler> scheduler_;
  bool skips_ahead_ = true;  // the policy starts whatever fits
  bool others_about_ = true;
  Time now_{};
  std::uint64_t inputs_ = 0;
  std::string problem_;
  std::map<JobId, JobSpec> specs_;  // of all jobs ever submitted, with their last edits
  std::vector<JobId> submitted_;
  std::uint64_t next_id_ = 1;
  std::set<JobId> running_;    // jobs with devices, including starting ones
  std::set<JobId> starting_;   // jobs of running_ that are starting
  std::set<JobId> leaving_;    // asked to leave their devices
  std::set<JobId> cancelled_;  // for good
  std::set<JobId> ended_;
  std::vector<StartJob> just_started_;
};

}  // namespace berth
