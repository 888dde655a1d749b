// FakeHost: the third host of the driver. It records the driver's requests in words. The test
// decides whether attempts start at once, late or never. A sleeping process stands in for each
// attempt, because the driver asks the real /proc whose memory it is. The test sets the clock.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/scenario_words.h"
#include "drive/driver.h"

namespace berth {

class FakeHost final : public Host {
 public:
  explicit FakeHost(const ScenarioJobs& jobs) : jobs_(jobs) {}
  ~FakeHost() override;
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  // Instructions of the test.
  enum class Start { AtOnce, Late, Fails, Impossible };
  void use(Driver* driver) { driver_ = driver; }
  void set_time(Time now) { now_ = now; }
  /// How the next attempt of a job starts.
  void plan(const std::string& name, Start how) { plans_[name] = how; }
  void set_recipe(JobId job, Recipe recipe) { recipes_[job] = std::move(recipe); }
  /// Starts the process of a late attempt.
  void start_now(JobId job);
  /// Ends the attempt's process.
  void end_process(JobId job);
  pid_t process_of(JobId job) const;
  /// Waits until the descriptor that is watched as `what` is readable, and lets the driver read it.
  void wait_for(const std::string& what);
  /// Forgets the descriptors that an earlier driver watched. A descriptor is read only when the
  /// test waits for it.
  void forget_watches() { watches_.clear(); }

  /// What has happened, in words.
  std::deque<std::string>& happened() { return happened_; }
  /// Every attempt that has begun.
  const std::vector<StartJob>& begun() const { return begun_; }

  Time now() const override { return now_; }
  void watch(int fd, std::string_view what, std::function<void()> readable) override;
  void unwatch(int fd) override;
  AttemptFacts begin(const StartJob& start, Time at) override;
  void launch(const StartJob& start, Time at) override;
  void stop(const StopJob& stop) override;
  void warn(JobId job) override;
  void ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) override;
  void requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) override;
  void attempt_changed(JobId job) override;
  void device_changed(DeviceId device, DeviceHealth before) override;
  void reading_taken(const Telemetry::Reading&, Time) override {}
  void blocked(const DeviceLocks::Obstacle& obstacle) override;
  void inform(const std::string& text) override { happened_.push_back("inform " + text); }

 private:
  struct Watch {
    std::string what;
    std::function<void()> readable;
  };

  Start take_plan(JobId job);
  void end_words(JobId job, const std::string& words, const DrivenAttempt* attempt);

  const ScenarioJobs& jobs_;
  Driver* driver_ = nullptr;
  Time now_{};
  std::map<std::string, Start> plans_;
  std::map<JobId, Recipe> recipes_;
  std::map<int, Watch> watches_;
  std::map<JobId, pid_t> processes_;
  std::deque<std::string> happened_;
  std::vector<StartJob> begun_;
};

}  // namespace berth
