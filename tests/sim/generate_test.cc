#include "sim/generate.h"

#include <map>

#include "sim/runs.h"

namespace berth {
namespace {

Workload make(std::string_view spec, const std::string& gpus, std::uint64_t seed = 1) {
  const Result<Machine> machine = parse_machine(gpus);
  Result<Workload> workload = generate(spec, *machine, seed);
  EXPECT_TRUE(workload.has_value()) << (workload ? "" : workload.error().message);
  return workload ? std::move(*workload) : Workload{};
}

// No task is lost, and every wait is counted once, whoever schedules.
TEST(Mix, EveryPolicyRunsEveryTask) {
  for (const std::string gpus : {"2", "4", "8x24GiB"}) {
    for (const std::string n : {"50", "200", "1000"}) {
      const Workload workload = make("mix:n=" + n, gpus);
      ASSERT_EQ(std::to_string(workload.jobs.size()), n);
      for (const std::string_view policy : policy_names()) {
        const test::Ran ran = test::run(workload, gpus, policy);
        double waits = 0;
        for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
          ASSERT_NE(ran.run.outcomes[i].ended, kNever) << policy;
          ASSERT_EQ(ran.run.outcomes[i].ran, workload.jobs[i].duration) << policy;
          waits += to_seconds(ran.run.outcomes[i].ended - workload.jobs[i].submit -
                              workload.jobs[i].duration);
        }
        EXPECT_NEAR(ran.summary.wait_s.mean * static_cast<double>(workload.jobs.size()), waits,
                    1e-6 * waits);
        EXPECT_LE(ran.summary.utilization, 1 + 1e-9) << policy;
      }
    }
  }
}

TEST(Mix, KeepsToItsRanges) {
  const Workload workload = make("mix:n=3000", "1x100MiB");
  std::map<std::string, int> kinds;
  for (const SimJob& job : workload.jobs) {
    const std::string& kind = workload.owners[job.owner];
    ++kinds[kind];
    const std::int64_t seconds = job.duration / std::chrono::seconds(1);
    if (kind == "image_classification") {
      EXPECT_TRUE(job.share >= 200 && job.share <= 400 && job.memory_mib >= 10 &&
                  job.memory_mib <= 30 && seconds >= 5 && seconds <= 10 && job.priority >= 1 &&
                  job.priority <= 3);
    } else if (kind == "lstm_training") {
      EXPECT_TRUE(job.share >= 300 && job.share <= 500 && job.memory_mib >= 40 &&
                  job.memory_mib <= 60 && seconds >= 7 && seconds <= 15 && job.priority >= 2 &&
                  job.priority <= 4);
    } else {
      EXPECT_EQ(kind, "cnn_training");
      EXPECT_TRUE(job.share >= 500 && job.share <= 800 && job.memory_mib >= 30 &&
                  job.memory_mib <= 50 && seconds >= 10 && seconds <= 20 && job.priority >= 3 &&
                  job.priority <= 5);
    }
  }
  EXPECT_EQ(kinds.size(), 3U);
  EXPECT_GT(kinds["lstm_training"], 800);
}

TEST(Generate, IsTheSameForTheSameSeed) {
  for (const std::string_view kind : {"mix", "poisson:n=100", "bursty:n=100", "lublin:n=100"}) {
    EXPECT_EQ(to_csv(make(kind, "16", 3)), to_csv(make(kind, "16", 3))) << kind;
    EXPECT_NE(to_csv(make(kind, "16", 3)), to_csv(make(kind, "16", 4))) << kind;
  }
}

TEST(Generate, GivesTheLoadThatWasAskedFor) {
  for (const std::string_view kind :
       {"poisson:n=20000,load=0.5", "bursty:n=20000,load=0.5", "lublin:n=20000,load=0.5"}) {
    const Workload workload = make(kind, "64");
    double work = 0;
    for (const SimJob& job : workload.jobs) {
      EXPECT_GE(job.gpus, 1U);
      EXPECT_LE(job.gpus, 64U);
      work += to_seconds(job.duration) * job.gpus;
    }
    const double span = to_seconds(workload.jobs.back().submit.time_since_epoch());
    EXPECT_NEAR(work / (64 * span), 0.5, 0.025) << kind;
  }
}

TEST(Generate, RefusesWhatItDoesNotKnow) {
  const Result<Machine> machine = parse_machine("4");
  for (const std::string_view spec :
       {"nothing", "mix:m=3", "poisson:n=0", "poisson:load=x", "mix:5", "poisson:length=odd"}) {
    EXPECT_FALSE(generate(spec, *machine, 1).has_value()) << spec;
  }
}

}  // namespace
}  // namespace berth
