// Instances whose answers can be worked out by hand or are in textbooks.
#include <numeric>

#include "sim/generate.h"
#include "sim/runs.h"
#include "sim/study.h"

namespace berth {
namespace {

using test::jobs;
using test::run;

Workload at_once(const std::vector<int>& lengths) {
  std::vector<std::pair<int, int>> times;
  for (const int length : lengths) {
    times.emplace_back(0, length);
  }
  return jobs(times);
}

TEST(Textbook, LongestFirst) {
  EXPECT_EQ(run(at_once({3, 3, 2, 2, 2}), "2", "lpt").summary.makespan_s, 7);
  EXPECT_EQ(run(at_once({5, 5, 4, 4, 3, 3, 3}), "3", "lpt").summary.makespan_s, 11);
  EXPECT_EQ(run(at_once({7, 7, 6, 6, 5, 5, 4, 4, 4}), "4", "lpt").summary.makespan_s, 15);
}

TEST(Textbook, ShortestFirstOnThreeMachines) {
  const Summary summary = run(at_once({2, 3, 4, 5, 6, 7, 8, 9}), "3", "sjf").summary;
  EXPECT_DOUBLE_EQ(summary.completion_s.mean * 8, 69);
}

TEST(Textbook, FourArrivals) {
  const Workload workload = jobs({{0, 8}, {1, 4}, {2, 9}, {3, 5}});
  EXPECT_DOUBLE_EQ(run(workload, "1", "fifo").summary.wait_s.mean, 8.75);
  EXPECT_DOUBLE_EQ(run(workload, "1", "sjf").summary.wait_s.mean, 7.75);
  EXPECT_DOUBLE_EQ(run(workload, "1", "srtf").summary.wait_s.mean, 6.5);
}

TEST(Textbook, RoundRobin) {
  // a a | b b | c | a a | b | a: ends at 9, 8 and 5.
  PolicyOptions options;
  options.slice = std::chrono::seconds(2);
  const SimRun ran = run(jobs({{0, 5}, {0, 3}, {0, 1}}), "1", "rr", {}, options).run;
  EXPECT_EQ(ran.outcomes[0].ended, Time(std::chrono::seconds(9)));
  EXPECT_EQ(ran.outcomes[1].ended, Time(std::chrono::seconds(8)));
  EXPECT_EQ(ran.outcomes[2].ended, Time(std::chrono::seconds(5)));
  EXPECT_EQ(ran.outcomes[0].preempted, 2U);
}

TEST(Textbook, PreemptionCostsWork) {
  SimOptions options;
  options.preemption_cost = std::chrono::seconds(3);
  // The long one is stopped once, at 1, and has 9 + 3 to do from 2 on.
  const SimRun ran = run(jobs({{0, 10}, {1, 1}}), "1", "srtf", options).run;
  EXPECT_EQ(ran.outcomes[0].ended, Time(std::chrono::seconds(14)));
  EXPECT_EQ(ran.wasted_gpu_seconds, 3);
}

TEST(Textbook, BackfillingDelaysNobody) {
  // Two GPUs: a runs on one until 10; b wants both; c (9 s) fits before b, d (10 s) does not.
  Workload workload = jobs({{0, 10}, {0, 5}, {0, 11}, {0, 9}});
  workload.jobs[1].gpus = 2;
  for (const std::string_view policy : {"easy", "conservative"}) {
    const SimRun ran = run(workload, "2", policy).run;
    EXPECT_EQ(ran.outcomes[1].started, Time(std::chrono::seconds(10))) << policy;
    EXPECT_EQ(ran.outcomes[2].started, Time(std::chrono::seconds(15))) << policy;
    EXPECT_EQ(ran.outcomes[3].started, Time(std::chrono::seconds(0))) << policy;
  }
}

TEST(Textbook, SharedDevicesAreSlower) {
  Workload workload = jobs({{0, 10}, {0, 10}});
  workload.jobs[0].share = workload.jobs[1].share = 500;
  SimOptions options;
  EXPECT_EQ(run(workload, "1", "fifo", options).summary.makespan_s, 10);
  options.sharing = time_sliced;
  EXPECT_EQ(run(workload, "1", "fifo", options).summary.makespan_s, 20);
  workload.jobs[1].duration = std::chrono::seconds(5);
  // Half the speed until 10, when the short one is done; 5 are left for the other.
  EXPECT_EQ(run(workload, "1", "fifo", options).summary.makespan_s, 15);
}

// Ten jobs of ten minutes on one GPU: six claims fit beside each other, then four.
TEST(Textbook, ClaimsShareADevice) {
  Workload workload = at_once(std::vector<int>(10, 600));
  for (SimJob& job : workload.jobs) {
    job.memory_mib = 4096;
  }
  for (const std::string_view policy :
       {"fifo", "conservative", "srtf", "srsf", "las", "rr", "wfq", "fair", "drf"}) {
    EXPECT_EQ(run(workload, "1x24GiB", policy).summary.makespan_s, 1200) << policy;
  }
  // Where shares are larger than that, two fit.
  for (SimJob& job : workload.jobs) {
    job.share = 500;
  }
  for (const std::string_view policy : {"conservative", "srtf", "srsf", "las", "rr"}) {
    EXPECT_EQ(run(workload, "1x24GiB", policy).summary.makespan_s, 3000) << policy;
  }
}

TEST(Textbook, FasterDevicesTakeLessTime) {
  EXPECT_EQ(run(jobs({{0, 10}}), "1:a100@2", "fifo").summary.makespan_s, 5);
}

TEST(Textbook, EnergyIsIdleAndBusyDraw) {
  const Summary summary = run(jobs({{0, 10}, {0, 20}}), "2", "fifo").summary;
  EXPECT_DOUBLE_EQ(summary.energy_j, 2 * 50 * 20 + 250 * 10 + 250 * 20);
  EXPECT_DOUBLE_EQ(summary.peak_power_w, 600);
  EXPECT_DOUBLE_EQ(summary.utilization, 0.75);
}

struct Queue {
  std::string name;
  std::string gpus;
  std::string length;
  double wait;
};

class QueueingTheory : public testing::TestWithParam<Queue> {};

// Jobs of mean length 1 at load 0.8: the mean wait is known.
TEST_P(QueueingTheory, MeanWait) {
  const Queue& queue = GetParam();
  const Result<Machine> machine = parse_machine(queue.gpus);
  std::vector<double> waits;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Result<Workload> workload =
        generate("poisson:n=40000,load=0.8,mean=1s,length=" + queue.length, *machine, seed);
    ASSERT_TRUE(workload.has_value());
    waits.push_back(run(*workload, queue.gpus, "fifo").summary.wait_s.mean);
  }
  const Estimate known = estimate(waits);
  EXPECT_NEAR(known.mean, queue.wait, known.half_width);
  EXPECT_LT(known.half_width, queue.wait * 0.06);
}

INSTANTIATE_TEST_SUITE_P(Queues, QueueingTheory,
                         testing::Values(Queue{"MM1", "1", "exponential", 4},
                                         Queue{"MM4", "4", "exponential", 0.7455},
                                         Queue{"MM8", "8", "exponential", 0.2860},
                                         Queue{"MD1", "1", "fixed", 2}),
                         [](const auto& row_info) { return row_info.param.name; });

}  // namespace
}  // namespace berth
