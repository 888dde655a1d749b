// Whether expected starts keep their promise on Philly's last two months, with lengths learned as
// jobs end.
#include "sim/foresight.h"

#include <fmt/format.h>

#include "sim/runs.h"

namespace berth {
namespace {

class Foreseen : public testing::TestWithParam<const char*> {};

TEST_P(Foreseen, StartsLieWithinTheirIntervals) {
  const auto path = test::find_trace("philly_2017.csv.gz");
  if (!path) {
    GTEST_SKIP() << "the public traces are not here: set BERTH_TRACES to their folder";
  }
  const Workload workload = test::read(*path);
  ForesightOptions options;
  options.policy = [] { return std::move(*make_policy("priority", {})); };
  options.from = Time{} + std::chrono::hours(24 * 58);  // 2017-11-01
  Foresight foresight(workload, options);
  SimOptions sim;
  sim.foresight = &foresight;
  (void)test::run(workload, GetParam(), "priority", sim);
  const auto show = [](const char* what, const IntervalFigures& figures) {
    fmt::print("{}: {} promised, {:.1f} % held, median width {:.0f} s\n", what, figures.promised(),
               100 * figures.coverage(), figures.median_width_s());
  };
  show("starts", foresight.starts());
  show("starts as the recipe's jobs waited", foresight.raw_starts());
  const double share = foresight.starts().coverage();
  const double raw_width = foresight.raw_starts().median_width_at_s(share);
  fmt::print("the latter, stretched until as many held: median width {:.0f} s\n", raw_width);
  show("lengths", foresight.lengths());
  EXPECT_GT(foresight.starts().promised(), 500U);
  EXPECT_GE(share, 0.88);
  // The aim is 0.92: they are wider than they need be. The constants were chosen on the months
  // before, and are not to be fitted to these.
  EXPECT_LE(share, 0.955);
  EXPECT_NEAR(foresight.lengths().coverage(), 0.9, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Philly, Foreseen, testing::Values("448", "512"));

}  // namespace
}  // namespace berth
