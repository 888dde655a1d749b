// Checkpoints: whoever goes on from one decides as the scheduler that wrote it, whatever the policy
// and whatever happens meanwhile.
#include "drive/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "drive/journal_player.h"
#include "policy/policies.h"
#include "store/journal.h"

namespace berth {
namespace {

std::string text(const std::vector<Action>& actions) {
  std::string all;
  for (const Action& action : actions) {
    all += fmt::format("{} ", action.index());
    if (const auto* start = std::get_if<StartJob>(&action)) {
      all += fmt::format("start {} {} on", start->job.value, start->attempt);
      for (const DeviceId device : start->devices) {
        all += fmt::format(" {}", device.value);
      }
    } else if (const auto* stop = std::get_if<StopJob>(&action)) {
      all += fmt::format("stop {} {}", stop->job.value, static_cast<int>(stop->how));
    } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
      all += fmt::format("ended {}", ended->job.value);
    } else if (const auto* again = std::get_if<JobRequeued>(&action)) {
      all += fmt::format("again {} {}", again->job.value,
                         again->not_before.time_since_epoch().count());
    } else if (const auto* warned = std::get_if<WarnJob>(&action)) {
      all += fmt::format("warn {}", warned->job.value);
    }
    all += "; ";
  }
  return all;
}

/// A scheduler that lives through all that can happen to one, by chance. What it is told goes, as
/// bytes, to players that have joined at some checkpoint.
class Life {
 public:
  Life(const std::string& policy, std::uint64_t seed)
      : random_(seed),
        told_(*make_live_policy(policy), Restarted{policy, config(random_)}, at_,
              [this](const JournalInput& input, Time at) { write(input, at); }) {
    for (int i = 0; i < 6; ++i) {
      DeviceSpec spec;
      spec.name = std::to_string(i);
      spec.memory = gibibytes(24);
      spec.locality.island = static_cast<std::uint16_t>(i / 2);
      told_.add_device(spec, at_);
    }
  }

  /// The first difference in words; empty: none.
  std::string run(int steps) {
    for (int i = 0; i < steps && problem_.empty(); ++i) {
      // Mostly time goes on; sometimes much happens at once.
      at_ += Duration(std::chrono::milliseconds(random_.below(3) == 0 ? 0 : random_.below(40'000)));
      for (std::uint64_t n = random_.below(6); n > 0; --n) {
        happen();
      }
      step();
      checkpoint();
    }
    return problem_;
  }
  std::size_t checkpoints() const { return players_.size(); }

 private:
  static Scheduler::Config config(Random& random) {
    Scheduler::Config config;
    config.placement = static_cast<Placement>(random.below(5));
    config.enforce_claims = random.below(2) == 0;
    config.limits.cpu_slots = 2;
    return config;
  }

  void write(const JournalInput& input, Time at) {
    const std::string bytes = encode_input(input);
    const std::optional<JournalInput> back = decode_input(bytes);
    if (!back || encode_input(*back) != bytes) {
      problem_ = fmt::format("entry of kind {} does not come back", input.index());
      return;
    }
    if (std::holds_alternative<CheckpointBegun>(input)) {
      players_.emplace_back();
    }
    for (std::size_t i = 0; i < players_.size() && problem_.empty(); ++i) {
      const Result<void> taken = players_[i].take(*back, at);
      if (!taken || !players_[i].refusal().empty()) {
        problem_ =
            fmt::format("player {}: {}", i, taken ? players_[i].refusal() : taken.error().message);
      }
    }
    if (std::holds_alternative<CheckpointDone>(input)) {
      // One that began and was given up has none.
      std::erase_if(players_, [](const auto& player) { return player.scheduler() == nullptr; });
      compare_wakes();
    }
  }

  void compare_wakes() {
    for (std::size_t i = 0; i < players_.size() && problem_.empty(); ++i) {
      const Scheduler& other = *players_[i].scheduler();
      problem_ = other.broken_invariant(at_);
      if (problem_.empty() &&
          (other.waiting() != told_->waiting() || other.running() != told_->running())) {
        problem_ =
            fmt::format("player {} has {} waiting, not {}", i, other.waiting(), told_->waiting());
      }
    }
  }

  void step() {
    const std::vector<Action> actions = told_.step(at_);
    const std::string decided = text(actions);
    for (std::size_t i = 0; i < players_.size() && problem_.empty(); ++i) {
      if (players_[i].scheduler() != nullptr && text(players_[i].actions()) != decided) {
        problem_ = fmt::format("at {}: decided {} player {}: {}", at_.time_since_epoch().count(),
                               decided, i, text(players_[i].actions()));
      }
    }
    for (const Action& action : actions) {
      if (const auto* ended = std::get_if<JobEnded>(&action)) {
        told_.forget(ended->job);
        ended_.push_back(ended->job);
      }
    }
  }

  void checkpoint() {
    if (!writing_ && players_.size() < 6 && random_.below(15) == 0) {
      told_.begin_checkpoint(at_);
      writing_ = true;
    }
    if (writing_ && problem_.empty()) {
      writing_ = !told_.continue_checkpoint(1 + random_.below(20), at_);
    }
  }

  std::vector<JobId> jobs(bool waiting) {
    std::vector<JobId> found;
    told_->visit_jobs(JobId{}, SIZE_MAX, [&](const Job& job) {
      if (job.waiting() == waiting && !std::holds_alternative<Ended>(job.state)) {
        found.push_back(job.id);
      }
    });
    return found;
  }
  std::optional<JobId> any(bool waiting) {
    const std::vector<JobId> found = jobs(waiting);
    return found.empty() ? std::nullopt : std::optional(found[random_.below(found.size())]);
  }

  JobSpec spec() {
    JobSpec spec;
    spec.needs.gpus = static_cast<std::uint32_t>(random_.below(4));
    if (random_.below(3) == 0) {
      spec.needs.memory = gibibytes(static_cast<std::int64_t>(2 + random_.below(12)));
    }
    spec.priority = static_cast<std::int32_t>(random_.below(3)) - 1;
    spec.owner = OwnerId{static_cast<std::uint32_t>(random_.below(4))};
    spec.weight = static_cast<std::uint16_t>(1 + random_.below(3));
    if (random_.below(2) == 0) {
      spec.expected = std::chrono::seconds(1 + random_.below(300));
    }
    if (random_.below(3) == 0) {
      spec.limit = std::chrono::seconds(30 + random_.below(300));
      spec.warn_before = std::chrono::seconds(random_.below(20));
    }
    spec.retry.most = static_cast<std::uint16_t>(random_.below(3));
    spec.retry.backoff = std::chrono::seconds(random_.below(60));
    if (random_.below(5) == 0) {
      spec.begin = at_ + Duration(std::chrono::seconds(random_.below(120)));
    }
    spec.held = random_.below(10) == 0;
    return spec;
  }

  void submit() {
    Submit command{spec(), JobId{next_}, static_cast<std::uint32_t>(1 + random_.below(4))};
    if (random_.below(3) == 0) {
      for (std::uint64_t n = 1 + random_.below(3); n > 0; --n) {
        if (const auto other = any(random_.below(2) == 0)) {
          command.spec.after.push_back({*other, static_cast<Dependency::When>(random_.below(3))});
        }
      }
    }
    next_ += told_.tell(command, at_) ? command.count : 0;
  }

  void happen() {
    const DeviceId device{static_cast<std::uint32_t>(random_.below(6))};
    switch (random_.below(22)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return submit();
      case 4:
        if (const auto job = any(random_.below(2) == 0)) {
          (void)told_.tell(Cancel{*job}, at_).has_value();
        }
        return;
      case 5:
        if (const auto job = any(true)) {
          (void)told_.tell(Hold{*job}, at_).has_value();
        }
        return;
      case 6:
        if (const auto job = any(true)) {
          (void)told_.tell(Release{*job}, at_).has_value();
        }
        return;
      case 7:
        if (const auto job = any(true)) {
          JobSpec changed = spec();
          changed.owner = told_->find(*job)->owner;
          (void)told_.tell(Edit{*job, changed}, at_).has_value();
        }
        return;
      case 8:
        if (const auto job = any(true); job && random_.below(2) == 0) {
          told_.tell(Reestimate{*job, std::chrono::seconds(1 + random_.below(5000))}, at_);
        } else if (job) {
          told_.tell(Reclaim{*job, gibibytes(static_cast<std::int64_t>(random_.below(10)))}, at_);
        }
        return;
      case 9:
        if (!ended_.empty()) {  // a rerun
          const std::size_t which = random_.below(ended_.size());
          const JobId job = ended_[which];
          ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(which));
          told_.tell(Restore{job, spec(), at_, 3, std::nullopt}, at_);
        }
        return;
      case 10:
        return told_.tell(
            DeviceChanged{device, static_cast<DeviceHealth>(random_.below(5) == 0 ? 1 : 0)}, at_);
      case 11:
        return told_.tell(
            ForeignUse{device, gibibytes(static_cast<std::int64_t>(random_.below(6)))}, at_);
      case 12:
        if (told_->devices()[device].leases.empty()) {
          told_.tell(DeviceTaken{device, random_.below(4) == 0}, at_);
        }
        return;
      case 13:
        random_.below(4) == 0 ? told_.tell(Pause{}, at_) : told_.tell(Resume{}, at_);
        return;
      default:
        return attempt();
    }
  }

  void attempt() {
    const std::optional<JobId> id = any(false);
    if (!id) {
      return;
    }
    const Job& job = *told_->find(*id);
    if (std::holds_alternative<Starting>(job.state)) {
      if (random_.below(8) == 0) {
        return told_.tell(StartRefused{*id, {}}, at_);
      }
      return told_.tell(JobStarted{*id}, at_);
    }
    switch (random_.below(6)) {
      case 0:
        return told_.tell(JobLost{*id}, at_);
      case 1:
        if (!job.lease()->empty()) {
          told_.tell(JobUse{*id, job.lease()->front(),
                            gibibytes(static_cast<std::int64_t>(random_.below(20)))},
                     at_);
        }
        return;
      case 2:
        return told_.tell(
            JobExited{*id, 1, 0, true,
                      MemoryEnd{{MemoryCause::Own, *id},
                                gibibytes(static_cast<std::int64_t>(random_.below(20)))}},
            at_);
      default:
        return told_.tell(JobExited{*id, random_.below(2) == 0 ? 0 : 1}, at_);
    }
  }

  Random random_;
  Time at_{std::chrono::hours(500'000)};
  std::string problem_;
  std::vector<JournalPlayer> players_;
  ToldScheduler told_;
  std::vector<JobId> ended_;
  std::uint64_t next_ = 1;
  bool writing_ = false;
};

class CheckpointTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckpointTest, WhoGoesOnFromItDecidesTheSame) {
  const char* const chosen = std::getenv("BERTH_SEED");
  const std::uint64_t first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  std::size_t checkpoints = 0;
  for (std::uint64_t seed = first; seed < first + (chosen != nullptr ? 1 : 40); ++seed) {
    Life life(GetParam(), seed);
    ASSERT_EQ(life.run(400), "") << GetParam() << ", again: BERTH_SEED=" << seed;
    checkpoints += life.checkpoints();
  }
  EXPECT_GT(checkpoints, chosen != nullptr ? 0 : 100);
}

std::vector<std::string> policies() {
  std::vector<std::string> all;
  for (const std::string_view name : live_policy_names()) {
    all.emplace_back(name);
  }
  for (const std::string_view name :
       {"sjf+easy", "f1+easy", "sjf+commit", "lpt+commit+backfill", "energy:900"}) {
    all.emplace_back(name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Policies, CheckpointTest, ::testing::ValuesIn(policies()), [](const auto& each) {
      std::string name = each.param;
      std::replace_if(
          name.begin(), name.end(),
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace berth
