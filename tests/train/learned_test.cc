// The learned policy in the simulator: its guard, and the model that ships.
#include "policy/learned.h"

#include <gtest/gtest.h>

#include <limits>

#include "policy/policies.h"
#include "policy/window_order.h"
#include "rl/model_file.h"
#include "sim/generate.h"
#include "sim/summary.h"

namespace berth {
namespace {

/// The newest job first, always.
Model hostile_model() {
  Model model;
  model.weights.assign(kTerms, 0.0F);
  model.weights[2] = 1;  // the longer a job waits, the later it goes
  model.grace = std::chrono::minutes(10);
  return model;
}

TEST(LearnedGuard, NobodyWhoComesAfterAJobIsDuePassesIt) {
  Workload workload;
  constexpr std::int64_t kJobs = 600;
  for (std::int64_t i = 0; i < kJobs; ++i) {  // twice as much as the device can do
    SimJob& job = workload.jobs.emplace_back();
    job.submit = Time(std::chrono::seconds(30 * i));
    job.duration = job.expected = std::chrono::minutes(1);
  }
  const Machine machine = *parse_machine("1");
  const auto expected = estimates(workload, {}, 1);
  const Model model = hostile_model();
  const Result<SimRun> run = simulate(workload, expected, machine, make_learned(model), {});
  ASSERT_TRUE(run) << run.error().message;
  const Duration bound = window_of(std::chrono::minutes(1)) + model.grace;
  int passed = 0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    for (std::size_t k = i + 1; k < workload.jobs.size(); ++k) {
      const bool before = run->outcomes[k].started < run->outcomes[i].started;
      passed += before ? 1 : 0;
      if (workload.jobs[k].submit > workload.jobs[i].submit + bound) {
        EXPECT_FALSE(before) << k << " passed " << i;
      }
    }
  }
  EXPECT_GT(passed, 0);  // the model does what it can
}

/// The same with a job that wants all devices, whatever a model does when a job does not fit: what
/// comes after the job is due goes past it only if it is gone when the job starts.
TEST(LearnedGuard, WideJobsAreNotStarvedByNarrowOnes) {
  Workload workload;
  for (std::int64_t i = 0; i < 800; ++i) {  // half as much again as the devices can do
    SimJob& job = workload.jobs.emplace_back();
    job.submit = Time(std::chrono::seconds(10 * i));
    job.duration = job.expected = std::chrono::minutes(1);
    job.gpus = i == 20 ? 4 : 1;
  }
  const Machine machine = *parse_machine("4");
  const auto expected = estimates(workload, {}, 1);
  for (const Starts starts : {Starts::Hold, Starts::Backfill, Starts::Pass}) {
    Model model = hostile_model();
    model.starts = starts;
    const Result<SimRun> run = simulate(workload, expected, machine, make_learned(model), {});
    ASSERT_TRUE(run) << run.error().message;
    const JobOutcome& wide = run->outcomes[20];
    const Time due = workload.jobs[20].submit + window_of(std::chrono::minutes(1)) + model.grace;
    for (std::size_t k = 21; k < workload.jobs.size(); ++k) {
      if (workload.jobs[k].submit > due && run->outcomes[k].started < wide.started) {
        EXPECT_LE(run->outcomes[k].ended, wide.started) << starts_name(starts) << " " << k;
      }
    }
    EXPECT_LT(wide.started, workload.jobs.back().submit) << starts_name(starts);
  }
}

TEST(LearnedGuard, ModelsWhoseRanksAreNoNumbersLeaveTheOrderToTheDefault) {
  const Machine machine = *parse_machine("1");
  const Workload workload = *generate("poisson:n=100,load=1.5", machine, 3);
  const auto expected = estimates(workload, {}, 1);
  Model broken = hostile_model();
  broken.weights[2] = std::numeric_limits<float>::quiet_NaN();
  Model none = hostile_model();
  none.weights[2] = 0;  // all ranks are the same, so the first in the default's order goes next
  const Result<SimRun> run = simulate(workload, expected, machine, make_learned(broken), {});
  const Result<SimRun> usual = simulate(workload, expected, machine, make_learned(none), {});
  ASSERT_TRUE(run && usual);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    EXPECT_EQ(run->outcomes[i].started, usual->outcomes[i].started) << i;
  }
}

TEST(LearnedGuard, TellsItsBound) {
  Job job;
  job.submitted = Time(std::chrono::hours(1));
  job.expected = std::chrono::minutes(1);
  const Model model = hostile_model();
  const std::optional<Promise> promise = make_learned(model)->promise(job);
  ASSERT_TRUE(promise);
  EXPECT_EQ(promise->window, window_of(std::chrono::minutes(1)) + model.grace);
  EXPECT_EQ(promise->passed_until, job.submitted + promise->window);
}

TEST(ShippedModel, BeatsShortestFirstOnSchedulesItWasNotTrainedOn) {
  const Machine machine = *parse_machine("256");
  double learned = 0;
  double shortest = 0;
  for (std::uint64_t seed = 900; seed < 910; ++seed) {
    const Workload workload = *generate("lublin:n=512", machine, seed);
    const auto expected = estimates(workload, {}, seed);
    for (const auto& [name, sum] : {std::pair("rl", &learned), std::pair("sjf", &shortest)}) {
      const Result<SimRun> run =
          simulate(workload, expected, machine, std::move(*make_policy(name)), {});
      ASSERT_TRUE(run) << run.error().message;
      *sum += summarise(workload, machine, *run).bounded_slowdown.mean;
    }
  }
  EXPECT_LT(learned, shortest);
}

}  // namespace
}  // namespace berth
