// FakeHost: the third host of the driver. It writes down what it is told to do, in words, and does
// as the test says: attempts start at once, late or never. A process that only sleeps stands in for
// each attempt, because whose memory it is gets asked of the real /proc. Its clock is the test's.
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

  // What the test says.
  enum class Start { AtOnce, Late, Fails, Impossible };
  void use(Driver* driver) { driver_ = driver; }
  void set_time(Time now) { now_ = now; }
  /// How the next attempt of a job starts.
  void plan(const std::string& name, Start how) { plans_[name] = how; }
  void set_recipe(JobId job, Recipe recipe) { recipes_[job] = std::move(recipe); }
  /// The process of a late attempt is there.
  void start_now(JobId job);
  /// The attempt's process is gone.
  void end_process(JobId job);
  pid_t process_of(JobId job) const;
  /// What only a reading can tell was told: wait for the descriptor, and let the driver look.
  void wait_for(const std::string& what);
  /// Nobody is heard until the test waits for it. Those that an earlier driver watched are gone.
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
