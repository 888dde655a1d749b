// Turns of preemptive policies: who is put back makes room for others.
#include <map>
#include <set>

#include "base/random.h"
#include "sim/runs.h"

namespace berth {
namespace {

using std::chrono::seconds;

Workload random_jobs(std::uint64_t seed) {
  Random random(seed);
  Workload workload;
  for (int i = 0; i < 60; ++i) {
    SimJob& job = workload.jobs.emplace_back();
    job.submit = Time(seconds(i < 30 ? 0 : 100 * random.below(30)));
    job.duration = job.expected = seconds(1 + random.below(3000));
    job.gpus = static_cast<std::uint32_t>(1 + random.below(random.below(3) == 0 ? 8 : 4));
  }
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const SimJob& a, const SimJob& b) { return a.submit < b.submit; });
  return workload;
}

/// How often a job began a stay at the moment at which another stay of its own ended.
std::size_t restarts_at_once(const SimRun& run) {
  std::map<std::uint32_t, std::set<std::pair<Time, Time>>> stays;
  for (const Stay& stay : run.timeline) {
    stays[stay.job].insert({stay.from, stay.to});
  }
  std::size_t restarts = 0;
  for (const auto& [job, turns] : stays) {
    Time ended = kNever;
    for (const auto& [from, to] : turns) {
      restarts += from == ended ? 1 : 0;
      ended = to;
    }
  }
  return restarts;
}

class Turns : public testing::TestWithParam<const char*> {};

TEST_P(Turns, NobodyIsPutBackToGoOnAtOnce) {
  SimOptions sim;
  sim.timeline = true;
  PolicyOptions options;
  options.slice = seconds(100);
  std::uint64_t preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const SimRun ran = test::run(random_jobs(seed), "8", GetParam(), sim, options).run;
    EXPECT_EQ(restarts_at_once(ran), 0U) << "seed " << seed;
    preemptions += ran.preemptions;
  }
  EXPECT_GT(preemptions, 100U);
}

INSTANTIATE_TEST_SUITE_P(Policies, Turns, testing::Values("rr", "las", "srtf", "srsf"));

/// A stream of one-GPU jobs that keeps 8 GPUs busy, twice over, and one job of the whole machine.
Workload gang_in_a_stream(Duration each) {
  Workload workload;
  for (int i = 0; i < 400; ++i) {
    SimJob& job = workload.jobs.emplace_back();
    job.submit = Time(i * each / 16);
    job.duration = job.expected = each;
  }
  SimJob gang = workload.jobs.front();
  gang.gpus = 8;
  workload.jobs.insert(workload.jobs.begin() + 40, gang);
  workload.jobs[40].submit = workload.jobs[39].submit;
  return workload;
}

TEST(Gangs, AreServedAmongAStreamOfSmallJobs) {
  PolicyOptions options;
  options.slice = seconds(100);
  options.las_patience = seconds(1000);
  const Workload workload = gang_in_a_stream(seconds(400));
  const Time submitted = workload.jobs[40].submit;
  const auto gang = [&](const char* policy) {
    return test::run(workload, "8", policy, {}, options).run.outcomes[40];
  };
  // All that stand in front have had their slices by then: 32 at most, 8 at a time.
  EXPECT_LE(gang("rr").started, submitted + seconds(500));
  // Everybody is on the first level, and those that run stay for as long as 400 s.
  EXPECT_LE(gang("las").started, submitted + options.las_patience + seconds(400));
  EXPECT_EQ(gang("las").preempted, 0U);
}

// A turn that is shorter than what its preemption costs still brings everybody forward.
TEST(TurnsAndCosts, EverybodyEnds) {
  SimOptions sim;
  sim.preemption_cost = seconds(300);
  PolicyOptions options;
  options.slice = seconds(100);
  options.preemption_cost = sim.preemption_cost;
  for (const std::string gpus : {"8", "2x8"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      for (const JobOutcome& job :
           test::run(random_jobs(seed), gpus, "rr", sim, options).run.outcomes) {
        EXPECT_NE(job.ended, kNever);
      }
    }
  }
}

}  // namespace
}  // namespace berth
