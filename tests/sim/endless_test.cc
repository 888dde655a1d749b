// Workloads under which a policy could go on for ever, or for as long as the jobs last.
#include "sim/generate.h"
#include "sim/runs.h"
#include "sim/study.h"

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using test::jobs;
using test::run;

TEST(Endless, TurnsShorterThanTheCostOfAPreemption) {
  SimOptions sim;
  sim.preemption_cost = seconds(30);
  PolicyOptions options;
  options.slice = seconds(10);
  options.preemption_cost = sim.preemption_cost;
  const SimRun ran = run(jobs({{0, 25}, {0, 25}}), "1", "rr", sim, options).run;
  // a 10 | b 10 | a 30 + 10 | b 30 + 10 | a 30 + 5 | b 30 + 5
  EXPECT_EQ(ran.outcomes[0].ended, Time(seconds(135)));
  EXPECT_EQ(ran.outcomes[1].ended, Time(seconds(170)));
  EXPECT_EQ(ran.preemptions, 4U);
}

TEST(Endless, StudiesTellThePolicyTheCost) {
  StudyOptions options;
  options.sim.preemption_cost = seconds(30);
  options.policy.slice = seconds(10);
  std::vector<Trial> trials(1);
  trials[0].workload = jobs({{0, 25}, {0, 25}});
  const Result<Machine> machine = parse_machine("1");
  const auto results = run_study({{"rr", Placement::Pack}}, trials, *machine, options,
                                 [](std::size_t, std::size_t, const SimRun&) {});
  ASSERT_TRUE(results.has_value()) << results.error().message;
}

TEST(Endless, StudiesReckonWithSlowDevicesAndNeighbours) {
  StudyOptions options;
  options.sim.preemption_cost = seconds(30);
  options.sim.sharing = time_sliced;
  options.policy.slice = seconds(10);
  for (const std::uint32_t share : {0U, 500U, 250U}) {
    std::vector<Trial> trials(1);
    trials[0].workload =
        jobs({{0, 25}, {0, 25}, {0, 25}, {0, 25}, {0, 25}, {0, 25}, {0, 25}, {0, 25}});
    for (SimJob& job : trials[0].workload.jobs) {
      job.share = share;
    }
    const Result<Machine> machine = parse_machine("1:slow@0.5");
    const auto results = run_study({{"rr", Placement::Pack}}, trials, *machine, options,
                                   [](std::size_t, std::size_t, const SimRun&) {});
    ASSERT_TRUE(results.has_value()) << share << ": " << results.error().message;
  }
}

TEST(Endless, NoProgressIsAnError) {
  // At half the speed the slice is spent before the lost work is made good: the policy was told of
  // another cost.
  SimOptions sim;
  sim.preemption_cost = seconds(30);
  PolicyOptions options;
  options.slice = seconds(10);
  options.preemption_cost = sim.preemption_cost;
  const Result<Machine> machine = parse_machine("1:slow@0.5");
  const Workload workload = jobs({{0, 25}, {0, 25}});
  const Result<SimRun> ran = simulate(workload, estimates(workload, {}, 1), *machine,
                                      std::move(*make_policy("rr", options)), sim);
  ASSERT_FALSE(ran.has_value());
  EXPECT_NE(ran.error().message.find("choose a smaller --preemption-cost, or a longer --slice"),
            std::string::npos)
      << ran.error().message;
}

TEST(Endless, ConservativeBehindAJobThatTakesALifetime) {
  constexpr int kLifetime = 60 * 365 * 24 * 3600;
  for (const bool known : {true, false}) {
    Workload workload = jobs({{0, kLifetime}, {0, 10}, {0, 20}});
    for (SimJob& job : workload.jobs) {
      job.expected = known ? job.duration : kForever;
    }
    const SimRun ran = run(workload, "1", "conservative").run;
    EXPECT_EQ(ran.outcomes[2].ended, Time(seconds(kLifetime + 30)));
    EXPECT_LT(ran.events, 100U);
  }
}

TEST(Endless, ConservativePlansTheFirstThousandOnly) {
  std::vector<std::pair<int, int>> times;
  for (int i = 0; i < 3000; ++i) {
    times.emplace_back(0, 1 + i % 7);
  }
  // Each ends before its time, so that all plans are made anew each time.
  Workload workload = jobs(times);
  for (SimJob& job : workload.jobs) {
    job.expected = job.duration * 1000;
  }
  const SimRun ran = run(workload, "64", "conservative").run;
  for (const JobOutcome& outcome : ran.outcomes) {
    ASSERT_NE(outcome.ended, kNever);
  }
}

}  // namespace
}  // namespace berth
