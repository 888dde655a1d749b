#include "sim/generate.h"
#include "sim/runs.h"

namespace berth {
namespace {

TEST(Faults, LoseWorkButNoJob) {
  const Result<Machine> machine = parse_machine("2x4");
  for (const std::string_view policy :
       {"fifo", "priority", "easy", "conservative", "srtf", "las"}) {
    SimOptions options;
    options.faults = {std::chrono::hours(20), std::chrono::hours(2), 7};
    const Result<Workload> workload = generate("poisson:n=2000,load=0.7", *machine, 3);
    const test::Ran calm = test::run(*workload, "2x4", policy);
    const test::Ran ran = test::run(*workload, "2x4", policy, options);
    EXPECT_GT(ran.run.failures, 100U);
    EXPECT_GT(ran.summary.wasted_gpu_seconds, 0);
    EXPECT_GT(ran.summary.completion_s.mean, calm.summary.completion_s.mean) << policy;
    std::uint32_t lost = 0;
    for (std::size_t i = 0; i < workload->jobs.size(); ++i) {
      const JobOutcome& outcome = ran.run.outcomes[i];
      ASSERT_NE(outcome.ended, kNever) << policy;
      lost += outcome.lost;
      // Work that was lost is done again; all other work is done once.
      ASSERT_TRUE(outcome.lost > 0 ? outcome.ran >= workload->jobs[i].duration
                                   : outcome.ran == workload->jobs[i].duration)
          << policy;
    }
    EXPECT_GT(lost, 20U) << policy;
    // What was used beyond the jobs' lengths is what was wasted.
    EXPECT_NEAR(ran.summary.gpu_seconds - calm.summary.gpu_seconds, ran.summary.wasted_gpu_seconds,
                1e-3);
  }
}

TEST(Faults, ThatNeverLetAJobEndAreAnError) {
  const Result<Machine> machine = parse_machine("1");
  SimOptions options;
  options.faults = {std::chrono::seconds(1), std::chrono::seconds(1), 1};
  const Workload workload = test::jobs({{0, 10000}});
  const auto ran = simulate(workload, estimates(workload, {}, 1), *machine,
                            std::move(*make_policy("fifo")), options);
  ASSERT_FALSE(ran.has_value());
  EXPECT_NE(ran.error().message.find("devices fail too often"), std::string::npos);
}

}  // namespace
}  // namespace berth
