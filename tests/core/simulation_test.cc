// Random workloads and faults against the scheduler, with every invariant checked after every
// input. A failure prints the seed; BERTH_SEED=N runs that one alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/random.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::seconds;

class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed) : random_(seed) {
    Scheduler::Config config;
    config.placement = static_cast<Placement>(random_.below(5));
    config.limits.cpu_slots = static_cast<std::uint32_t>(1 + random_.below(3));
    config.grace = seconds(random_.below(20));
    scheduler_ = std::make_unique<Scheduler>(make_any_policy(), config);
    const std::uint64_t devices = 1 + random_.below(12);
    for (std::uint64_t i = 0; i < devices; ++i) {
      DeviceSpec spec;
      spec.name = std::to_string(i);
      spec.model = chance(2) ? "A" : "B";
      spec.memory =
          chance(8) ? Bytes{} : gibibytes(static_cast<std::int64_t>(8 + random_.below(4) * 8));
      spec.locality.island = static_cast<std::uint16_t>(random_.below(4));
      spec.locality.numa = static_cast<std::uint16_t>(spec.locality.island / 2);
      scheduler_->add_device(spec);
    }
  }

  /// Empty, or what went wrong.
  std::string run(int inputs) {
    for (int i = 0; i < inputs; ++i) {
      input();
      if (std::string problem = step(); !problem.empty()) {
        return fmt::format("after input {}: {}", i, problem);
      }
    }
    return drain();
  }

 private:
  std::unique_ptr<Policy> make_any_policy() {
    if (chance(2)) {
      return make_priority(
          {.aging = seconds(random_.below(100)), .patience = seconds(random_.below(2000))});
    }
    static const std::set<std::string_view> kSkipping = {"lottery", "stride", "wfq",
                                                         "fair",    "drf",    "energy"};
    std::vector<std::string_view> names = policy_names();
    names.insert(names.end(), {"f1+easy", "sjf+commit", "fifo+commit+backfill"});
    const std::string_view name = names[random_.below(names.size())];
    skips_ahead_ = kSkipping.contains(name);
    PolicyOptions options;
    options.slice = seconds(1 + random_.below(100));
    return std::move(*make_policy(name, options));
  }

  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }

  void input() {
    now_ += seconds(random_.below(30));
    switch (random_.below(13)) {
      case 0:
      case 1:
      case 2:
      case 3:
        submit();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
        end_one();
        break;
      case 8:
        if (!submitted_.empty()) {
          const JobId job = any(submitted_);
          switch (random_.below(4)) {
            case 0:
              (void)scheduler_->apply(Cancel{job}, now_).has_value();
              break;
            case 1:
              (void)scheduler_->apply(Hold{job}, now_).has_value();
              break;
            default:
              (void)scheduler_->apply(Release{job}, now_).has_value();
          }
        }
        break;
      case 9:
        if (chance(3)) {
          scheduler_->apply(DeviceChanged{device(), static_cast<DeviceHealth>(random_.below(3))});
        } else {
          scheduler_->apply(DeviceChanged{device(), DeviceHealth::Ok});
        }
        break;
      case 10:
        scheduler_->apply(
            ForeignUse{device(), gibibytes(static_cast<std::int64_t>(random_.below(12)))});
        break;
      case 11: {
        // Another berth can only take what we have no lease on.
        const DeviceId one = device();
        const bool ours = !scheduler_->devices()[one].leases.empty();
        scheduler_->apply(DeviceTaken{one, !ours && chance(3)});
        break;
      }
      default:
        if (chance(4)) {
          scheduler_->apply(Pause{});
        } else {
          scheduler_->apply(Resume{});
        }
    }
  }

  void submit() {
    Submit command;
    JobSpec& spec = command.spec;
    spec.needs.gpus =
        static_cast<std::uint32_t>(chance(10) ? 0 : 1 + random_.below(chance(3) ? 6 : 2));
    if (chance(2)) {
      spec.needs.memory = gibibytes(static_cast<std::int64_t>(1 + random_.below(12)));
    }
    if (chance(4)) {
      spec.needs.share = static_cast<std::uint32_t>(100 * (1 + random_.below(10)));
    }
    if (chance(4) && spec.needs.gpus == 1) {
      spec.needs.mps = mps_of(static_cast<std::uint32_t>(random_.below(2)));
    }
    if (chance(8)) {
      spec.needs.model = "a";
    }
    spec.priority = static_cast<std::int32_t>(random_.below(7)) - 3;
    if (chance(2)) {
      spec.expected = seconds(1 + random_.below(500));
    }
    if (chance(4)) {
      spec.limit = seconds(1 + random_.below(500));
    }
    if (chance(6)) {
      spec.begin = now_ + seconds(random_.below(300));
    }
    if (chance(5)) {
      spec.retry = {.most = static_cast<std::uint16_t>(1 + random_.below(3)),
                    .backoff = seconds(random_.below(60))};
    }
    if (chance(4) && !submitted_.empty()) {
      spec.after.push_back({any(submitted_), static_cast<Dependency::When>(random_.below(3))});
    }
    spec.held = chance(12);
    spec.owner = OwnerId{static_cast<std::uint32_t>(random_.below(4))};
    spec.weight = static_cast<std::uint16_t>(1 + random_.below(3));
    command.count = static_cast<std::uint32_t>(chance(6) ? 1 + random_.below(5) : 1);
    if (const Result<JobId> first = scheduler_->apply(command, now_)) {
      for (std::uint32_t i = 0; i < command.count; ++i) {
        submitted_.push_back(JobId{first->value + i});
      }
    }
  }

  void end_one() {
    if (running_.empty()) {
      return;
    }
    auto victim = running_.begin();
    std::advance(victim, static_cast<long>(random_.below(running_.size())));
    const JobId job = *victim;
    running_.erase(victim);
    JobExited exited{job};
    if (chance(4)) {
      exited.exit_code = static_cast<int>(random_.below(3));
    } else if (chance(10)) {
      exited.signal = 9;
    }
    scheduler_->apply(exited, now_);
  }

  std::string step() {
    std::vector<StartRefused> refused;
    for (const Action& action : scheduler_->step(now_)) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        for (const DeviceId device : start->devices) {
          if (scheduler_->devices()[device].taken) {
            return fmt::format("job {} was started on a taken device", start->job.value);
          }
        }
        if (StartRefused refusal = refuse(*start); !refusal.taken.empty()) {
          refused.push_back(std::move(refusal));
          continue;
        }
        if (!running_.insert(start->job).second) {
          return fmt::format("job {} runs already", start->job.value);
        }
        just_started_.push_back(start->job);
      } else if (const auto* end = std::get_if<JobEnded>(&action)) {
        if (!ended_.insert(end->job).second) {
          return fmt::format("job {} ended twice", end->job.value);
        }
      } else if (const auto* stop = std::get_if<StopJob>(&action)) {
        if (!running_.contains(stop->job)) {
          return fmt::format("job {} is to be stopped, but does not run", stop->job.value);
        }
      } else if (const auto* preempt = std::get_if<PreemptJob>(&action)) {
        if (!running_.contains(preempt->job)) {
          return fmt::format("job {} is to be preempted, but does not run", preempt->job.value);
        }
        leaving_.insert(preempt->job);
      }
    }
    const bool room_made = put_back();
    for (const JobId job : just_started_) {
      // Some die before anyone saw them start.
      if (!chance(10)) {
        scheduler_->apply(JobStarted{job}, now_);
      }
    }
    just_started_.clear();
    for (const StartRefused& refusal : refused) {
      const std::uint16_t attempt = scheduler_->find(refusal.job)->attempt;
      scheduler_->apply(refusal, now_);
      if (scheduler_->find(refusal.job)->attempt != attempt - 1) {
        return fmt::format("job {} lost an attempt", refusal.job.value);
      }
    }
    if (!refused.empty() || room_made) {
      return step();
    }
    if (std::string broken = scheduler_->broken_invariant(now_); !broken.empty()) {
      return broken;
    }
    return idle_device();
  }

  /// Jobs that were asked to leave do so, sooner or later, if they have not ended by then.
  bool put_back() {
    bool any = false;
    for (auto job = leaving_.begin(); job != leaving_.end();) {
      const auto* running = std::get_if<Running>(&scheduler_->find(*job)->state);
      const bool goes = running != nullptr && running->stopping == Stopping::Preempted;
      if (goes && chance(4)) {
        ++job;
        continue;
      }
      if (goes) {
        const std::uint16_t attempt = scheduler_->find(*job)->attempt;
        scheduler_->apply(JobPreempted{*job}, now_);
        EXPECT_EQ(scheduler_->find(*job)->attempt, attempt - 1);
        running_.erase(*job);
        any = true;
      }
      job = leaving_.erase(job);
    }
    return any;
  }

  /// Now and then another berth was faster: it has some of the devices that are this job's alone.
  StartRefused refuse(const StartJob& start) {
    StartRefused refusal{start.job, {}};
    if (others_about_ && chance(8)) {
      for (const DeviceId device : start.devices) {
        if (scheduler_->devices()[device].leases.size() == 1 && chance(2)) {
          refusal.taken.push_back(device);
        }
      }
    }
    return refusal;
  }

  /// The first promise: nothing that fits waits, unless devices are kept for a job in front.
  std::string idle_device() const {
    if (!skips_ahead_ || scheduler_->paused()) {
      return "";
    }
    for (const Queue::Head& head : scheduler_->queue().heads()) {
      const auto why = scheduler_->explain(head.first.job, now_).kind;
      if (why == Explanation::Kind::Behind || why == Explanation::Kind::Next) {
        return fmt::format("job {} fits but waits", head.first.job.value);
      }
    }
    return "";
  }

  /// Everything that may run must run to its end once nothing is in the way any more.
  std::string drain() {
    scheduler_->apply(Resume{});
    others_about_ = false;
    for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
      scheduler_->apply(DeviceTaken{DeviceId{i}, false});
      scheduler_->apply(DeviceChanged{DeviceId{i}, DeviceHealth::Ok});
      scheduler_->apply(ForeignUse{DeviceId{i}, Bytes{}});
    }
    for (const JobId job : submitted_) {
      (void)scheduler_->apply(Release{job}, now_).has_value();
    }
    while (scheduler_->waiting() > 0 || !scheduler_->running().empty()) {
      if (std::string problem = step(); !problem.empty()) {
        return "at the end: " + problem;
      }
      if (!running_.empty()) {
        now_ += seconds(1);
        end_one();
      } else if (scheduler_->wake_at() != kNever) {
        now_ = std::max(now_, scheduler_->wake_at());
      } else if (scheduler_->waiting() > 0) {
        return fmt::format("{} jobs are stuck", scheduler_->waiting());
      }
    }
    (void)step();
    if (ended_.size() != submitted_.size()) {
      return fmt::format("{} submitted, {} ended", submitted_.size(), ended_.size());
    }
    for (const JobId job : submitted_) {
      scheduler_->forget(job);
    }
    return "";
  }

  JobId any(const std::vector<JobId>& jobs) { return jobs[random_.below(jobs.size())]; }
  DeviceId device() {
    return DeviceId{static_cast<std::uint32_t>(random_.below(scheduler_->devices().size()))};
  }

  Random random_;
  std::unique_ptr<Scheduler> scheduler_;
  bool skips_ahead_ = true;
  bool others_about_ = true;
  Time now_{};
  std::vector<JobId> submitted_;
  std::set<JobId> running_;
  std::set<JobId> leaving_;
  std::set<JobId> ended_;
  std::vector<JobId> just_started_;
};

TEST(Simulation, InvariantsHoldForEverySeed) {
  std::uint64_t first = 0;
  std::uint64_t count = 400;
  if (const char* one = std::getenv("BERTH_SEED")) {
    first = std::strtoull(one, nullptr, 10);
    count = 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string problem = RandomWorld(seed).run(300);
    ASSERT_EQ(problem, "") << "replay: BERTH_SEED=" << seed
                           << " build/test_core --gtest_filter=Simulation.*";
  }
}

// The same inputs give the same actions: no hidden clock, hash order or randomness.
TEST(Simulation, IsDeterministic) {
  const auto trace = [] {
    Scheduler scheduler(make_priority(), {});
    for (int i = 0; i < 8; ++i) {
      scheduler.add_device({.name = std::to_string(i),
                            .uuid = "",
                            .model = "",
                            .memory = gibibytes(24),
                            .locality = {}});
    }
    Random random(7);
    std::string log;
    std::vector<JobId> running;
    Time now{};
    for (int i = 0; i < 2000; ++i) {
      now += seconds(random.below(9));
      Submit command;
      command.spec.needs.gpus = static_cast<std::uint32_t>(1 + random.below(4));
      command.spec.needs.memory = gibibytes(static_cast<std::int64_t>(random.below(12)));
      command.spec.priority = static_cast<std::int32_t>(random.below(5));
      (void)scheduler.apply(command, now).has_value();
      if (!running.empty() && random.below(2) == 0) {
        const std::size_t index = random.below(running.size());
        scheduler.apply(JobExited{running[index]}, now);
        running.erase(running.begin() + static_cast<long>(index));
      }
      for (const Action& action : scheduler.step(now)) {
        if (const auto* start = std::get_if<StartJob>(&action)) {
          log += fmt::format("{}:{};", start->job.value, start->devices[0].value);
          running.push_back(start->job);
        }
      }
    }
    return log;
  };
  EXPECT_EQ(trace(), trace());
}

}  // namespace
}  // namespace berth
