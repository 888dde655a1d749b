// What owners get over long runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "core/forecast.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::uint16_t, 3> kWeights = {1, 2, 5};

/// The owners' parts of the GPU time while all of them always have jobs waiting.
std::array<double, 3> shares(std::string_view policy_name, int starts) {
  PolicyOptions options;
  options.half_life = std::chrono::hours(1000);
  Scheduler scheduler(std::move(*make_policy(policy_name, options)), {});
  for (int i = 0; i < 8; ++i) {
    scheduler.add_device({std::to_string(i), "", "", {}, {}});
  }
  Random random(5);
  Time now{};
  std::array<double, 3> used{};
  std::set<std::pair<Time, JobId>> ends;
  std::map<JobId, std::pair<std::uint32_t, Duration>> jobs;
  const auto submit = [&](std::uint32_t owner) {
    Submit command;
    command.spec.owner = OwnerId{owner};
    command.spec.weight = kWeights[owner];
    command.spec.expected = milliseconds(500 + random.below(1000));
    jobs[*scheduler.apply(command, now)] = {owner, command.spec.expected};
  };
  for (int i = 0; i < 30; ++i) {
    submit(static_cast<std::uint32_t>(i % 3));
  }
  for (int started = 0; started < starts;) {
    const std::vector<Action> actions = scheduler.step(now);
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        scheduler.apply(JobStarted{start->job}, now);
        const auto& [owner, length] = jobs[start->job];
        ends.insert({now + length, start->job});
        used[owner] += to_seconds(length);
        submit(owner);
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
  const double all = used[0] + used[1] + used[2];
  return {used[0] / all, used[1] / all, used[2] / all};
}

class Shares : public testing::TestWithParam<std::string_view> {};

TEST_P(Shares, MatchWeights) {
  const std::array<double, 3> got = shares(GetParam(), 200'000);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double due = kWeights[i] / 8.0;
    EXPECT_NEAR(got[i], due, due * 0.02) << "owner " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Shares, testing::Values("lottery", "wfq", "stride", "fair"),
                         [](const auto& which) { return std::string(which.param); });

// What runs is divided in the proportion of the weights, as far as whole jobs allow.
TEST(Drf, DividesTheDevices) {
  const std::array<double, 3> got = shares("drf", 50'000);
  EXPECT_NEAR(got[2], 5 / 8.0, 0.07);
  EXPECT_LT(got[0], got[1]);
}

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
