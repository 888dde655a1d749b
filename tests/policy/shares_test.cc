// What owners get over long runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/random.h"
#include "core/forecast.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::milliseconds;

struct Crowd {
  std::uint16_t weight = 1;
  std::uint32_t least_gpus = 1;
  std::uint32_t most_gpus = 1;
};

/// The owners' parts of the GPU time on 8 devices while all of them always have jobs waiting.
std::vector<double> shares(std::string_view policy_name, const std::vector<Crowd>& owners,
                           int starts) {
  PolicyOptions options;
  options.half_life = std::chrono::hours(1000);
  Scheduler scheduler(std::move(*make_policy(policy_name, options)), {});
  for (int i = 0; i < 8; ++i) {
    scheduler.add_device({std::to_string(i), "", "", {}, {}});
  }
  Random random(5);
  Time now{};
  std::vector<double> used(owners.size());
  std::set<std::pair<Time, JobId>> ends;
  std::map<JobId, JobSpec> jobs;
  const auto submit = [&](std::uint32_t owner) {
    const Crowd& crowd = owners[owner];
    Submit command;
    command.spec.owner = OwnerId{owner};
    command.spec.weight = crowd.weight;
    command.spec.needs.gpus =
        crowd.least_gpus +
        static_cast<std::uint32_t>(random.below(crowd.most_gpus - crowd.least_gpus + 1));
    command.spec.expected = milliseconds(500 + random.below(1000));
    jobs[*scheduler.apply(command, now)] = command.spec;
  };
  for (std::uint32_t i = 0; i < 10 * owners.size(); ++i) {
    submit(i % static_cast<std::uint32_t>(owners.size()));
  }
  for (int started = 0; started < starts;) {
    const std::vector<Action> actions = scheduler.step(now);
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        scheduler.apply(JobStarted{start->job}, now);
        const JobSpec& spec = jobs[start->job];
        ends.insert({now + spec.expected, start->job});
        used[spec.owner.value] += to_seconds(spec.expected) * spec.needs.gpus;
        submit(spec.owner.value);
        ++started;
      } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
        scheduler.forget(ended->job);
        jobs.erase(ended->job);
      }
    }
    now = ends.begin()->first;
    scheduler.apply(JobExited{ends.begin()->second}, now);
    ends.erase(ends.begin());
  }
  const double all = std::accumulate(used.begin(), used.end(), 0.0);
  for (double& part : used) {
    part /= all;
  }
  return used;
}

const std::vector<Crowd> kWeighted = {{1}, {2}, {5}};

class Shares : public testing::TestWithParam<std::string_view> {};

TEST_P(Shares, MatchWeights) {
  const std::vector<double> got = shares(GetParam(), kWeighted, 200'000);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double due = kWeighted[i].weight / 8.0;
    EXPECT_NEAR(got[i], due, due * 0.02) << "owner " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Shares,
                         testing::Values("lottery", "wfq", "stride", "fair", "drf"),
                         [](const auto& which) { return std::string(which.param); });

class Gangs : public testing::TestWithParam<std::string_view> {};

TEST_P(Gangs, OfTheWholeMachineGetTheirShareBesideSmallJobs) {
  const std::vector<double> got = shares(GetParam(), {{1, 8, 8}, {1, 1, 1}}, 50'000);
  EXPECT_NEAR(got[0], 0.5, 0.025);
}

TEST_P(Gangs, OfHalfTheMachineGetTheirShareBesideSmallJobs) {
  const std::vector<double> got = shares(GetParam(), {{1, 4, 4}, {1, 1, 3}}, 50'000);
  EXPECT_NEAR(got[0], 0.5, 0.025);
}

INSTANTIATE_TEST_SUITE_P(Policies, Gangs,
                         testing::Values("lottery", "wfq", "stride", "fair", "drf", "priority"),
                         [](const auto& which) { return std::string(which.param); });

TEST(Drf, CountsTheScarcerResource) {
  Scheduler scheduler(std::move(*make_policy("drf")), {});
  for (int i = 0; i < 10; ++i) {
    scheduler.add_device({std::to_string(i), "", "", gibibytes(10), {}});
  }
  // Owner 1 takes much memory and little compute, owner 2 the other way round: what dominates is
  // 40 % of a device for each, so they alternate.
  for (int i = 0; i < 10; ++i) {
    for (const std::uint32_t owner : {1U, 2U}) {
      Submit command;
      command.spec.owner = OwnerId{owner};
      command.spec.needs.memory = gibibytes(owner == 1 ? 4 : 1);
      command.spec.needs.share = owner == 1 ? 100 : 400;
      ASSERT_TRUE(scheduler.apply(command, Time{}).has_value());
    }
  }
  std::array<int, 3> started{};
  int most_apart = 0;
  for (const Action& action : scheduler.step(Time{})) {
    ++started[scheduler.find(std::get<StartJob>(action).job)->owner.value];
    most_apart = std::max(most_apart, std::abs(started[1] - started[2]));
  }
  EXPECT_GT(started[1], 5);
  EXPECT_LE(most_apart, 1);
}

// A policy is told of jobs that ran before it was there, and can look ahead.
TEST(Live, EveryPolicyTakesUpRunningJobs) {
  for (const std::string_view name : live_policy_names()) {
    PolicyOptions options;
    options.power_budget = 150;
    Scheduler scheduler(std::move(*make_policy(name, options)), {});
    scheduler.add_device({"0", "", "", {}, {}, {10, 100}});
    scheduler.add_device({"1", "", "", {}, {}, {10, 100}});
    JobSpec spec;
    spec.expected = std::chrono::seconds(10);
    const Time begun(std::chrono::seconds(5));
    scheduler.apply(Restore{JobId{1}, spec, Time{}, 1, Running{{DeviceId{0}}, begun}}, begun);
    spec.needs.gpus = name == "energy" ? 1 : 2;
    ASSERT_TRUE(scheduler.apply(Submit{spec}, begun).has_value());
    EXPECT_TRUE(scheduler.step(begun).empty()) << name;
    const auto starts =
        scheduler.forecast(std::move(*make_policy(name, options)), std::chrono::hours(1), 10, begun)
            .finish();
    EXPECT_EQ(starts.at(JobId{2}).start, Time(std::chrono::seconds(15))) << name;
    const Time end(std::chrono::seconds(15));
    scheduler.apply(JobExited{JobId{1}}, end);
    const std::vector<Action> actions = scheduler.step(end);
    EXPECT_EQ(actions.size(), 2U) << name;  // one end, one start
    EXPECT_EQ(scheduler.refusal(), "") << name;
  }
}

TEST(Live, RefusesPoliciesThatPreempt) {
  const auto refused = make_live_policy("srtf");
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with(
      "policy srtf needs preemption, which only the simulator has"));
  EXPECT_TRUE(make_live_policy("sjf+easy").has_value());
  EXPECT_FALSE(make_live_policy("sjf+nothing").has_value());
  EXPECT_FALSE(make_policy("srtf+easy").has_value());
  for (const std::string_view name : live_policy_names()) {
    EXPECT_TRUE(make_live_policy(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace berth
