#include "sim/generate.h"
#include "sim/runs.h"

namespace berth {
namespace {

TEST(PowerBudget, IsNeverExceeded) {
  const Result<Machine> machine = parse_machine("4:a100+8:t4");
  PolicyOptions options;
  for (const double budget : {760.0, 1000.0, 1500.0, 10000.0}) {
    options.power_budget = budget;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Result<Workload> workload = generate("bursty:n=500,load=0.9", *machine, seed);
      const test::Ran ran = test::run(*workload, "4:a100+8:t4", "energy", {}, options);
      EXPECT_LE(ran.summary.peak_power_w, budget);
      EXPECT_GT(ran.summary.peak_power_w, std::min(budget, 2160.0) - 350);
    }
  }
}

// A budget below what one job draws beside the idle devices can start nothing: an error, not a
// hang.
TEST(PowerBudget, ThatIsTooSmallIsAnError) {
  const Result<Machine> machine = parse_machine("2");
  PolicyOptions options;
  options.power_budget = 200;
  const Workload workload = test::jobs({{0, 10}});
  const auto ran = simulate(workload, estimates(workload, {}, 1), *machine,
                            std::move(*make_policy("energy", options)), {});
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().message,
            "needs 1 GPU, but with it the GPUs are expected to draw 350 W at least, and they may "
            "draw 200 W: raise the power budget");
}

}  // namespace
}  // namespace berth
