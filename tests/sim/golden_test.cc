// Figures that other simulators give for public traces, to the last printed digit.
#include <fmt/format.h>

#include "sim/runs.h"

namespace berth {
namespace {

using test::find_trace;
using test::read;

constexpr const char* kMissing =
    "the public traces are not here: set BERTH_TRACES to their folder (docs/traces.md)";

std::string figures_of(const Summary& summary) {
  return fmt::format("{:.3f} ({:.3f})", summary.completion_s.mean, summary.bounded_slowdown.mean);
}

struct Row {
  std::string trace;
  std::string user;
  std::string gpus;
  std::string policy;
  std::string figures;  // mean completion (mean bounded slowdown)
};

class Golden : public testing::TestWithParam<Row> {};

TEST_P(Golden, Agrees) {
  const Row& row = GetParam();
  const auto path = find_trace(row.trace);
  if (!path) {
    GTEST_SKIP() << kMissing;
  }
  TraceOptions options;
  if (!row.user.empty()) {
    options.user = row.user;
  }
  EXPECT_EQ(figures_of(test::run(read(*path, options), row.gpus, row.policy).summary), row.figures);
}

const std::string kPhilly = "philly_2017.csv.gz";
const std::string kLublin = "lublin1_256.csv";

INSTANTIATE_TEST_SUITE_P(
    Figures, Golden,
    testing::Values(Row{kPhilly, "103959", "24", "fifo", "353357.525 (1776.877)"},
                    Row{kPhilly, "103959", "24", "sjf", "68987.556 (47.878)"},
                    Row{kPhilly, "103959", "24", "easy", "189140.686 (441.995)"},
                    Row{kPhilly, "103959", "24", "srtf", "55825.763 (1.162)"},
                    Row{kPhilly, "103959", "24", "srsf", "58684.607 (1.180)"},
                    Row{kPhilly, "", "448", "fifo", "216919.307 (970.915)"},
                    Row{kPhilly, "", "448", "sjf", "20567.175 (5.024)"},
                    Row{kPhilly, "", "448", "easy", "190743.175 (570.466)"},
                    Row{kPhilly, "", "448", "srtf", "13097.470 (1.005)"},
                    Row{kPhilly, "", "512", "fifo", "52647.517 (187.109)"},
                    Row{kPhilly, "", "512", "sjf", "16808.932 (3.351)"},
                    Row{kPhilly, "", "512", "easy", "45763.366 (89.417)"},
                    Row{kPhilly, "", "512", "srtf", "12214.696 (1.002)"},
                    Row{kLublin, "", "256", "fifo", "2393306.527 (66502.476)"},
                    Row{kLublin, "", "256", "sjf", "280166.989 (53.543)"},
                    Row{kLublin, "", "256", "easy", "102018.761 (590.054)"},
                    Row{kLublin, "", "256", "srtf", "31587.949 (2.224)"},
                    Row{kLublin, "", "256", "srsf", "55833.282 (3.996)"}),
    [](const auto& row_info) {
      const Row& row = row_info.param;
      return fmt::format("{}_{}_{}", row.trace.substr(0, 6), row.user + row.gpus, row.policy);
    });

double completion(std::string_view policy, const std::string& gpus, const std::string& path) {
  TraceOptions options;
  options.user = "103959";
  return test::run(read(path, options), gpus, policy).summary.completion_s.mean;
}

// Jobs stay on one machine, the fullest that fits.
TEST(GoldenFigures, OnMachinesOfEight) {
  const auto path = find_trace(kPhilly);
  if (!path) {
    GTEST_SKIP() << kMissing;
  }
  EXPECT_EQ(fmt::format("{:.3f}", completion("fifo", "3x8", *path)), "368783.892");
  EXPECT_EQ(fmt::format("{:.3f}", completion("sjf", "3x8", *path)), "68059.415");
}

TEST(GoldenFigures, LeastAttainedService) {
  const auto path = find_trace(kPhilly);
  if (!path) {
    GTEST_SKIP() << kMissing;
  }
  EXPECT_EQ(fmt::format("{:.3f}", completion("las", "24", *path)), "94973.961");
}

/// The mean of RLScheduler's ten windows.
std::string windows(const std::string& path, std::string_view policy, bool one_by_one) {
  double sum = 0;
  constexpr std::array<std::size_t, 10> kFirst = {1981, 2756, 4299, 8850, 3316,
                                                  2714, 5228, 7762, 4022, 7085};
  for (const std::size_t first : kFirst) {
    TraceOptions options;
    options.first_row = first;
    options.rows = 1024;
    SimOptions sim;
    sim.one_by_one = one_by_one;
    PolicyOptions policy_options;
    policy_options.begin = Time{};  // of the whole trace, not of the window
    sum += test::run(read(path, options), "256", policy, sim, policy_options)
               .summary.bounded_slowdown.mean;
  }
  return fmt::format("{:.2f}", sum / kFirst.size());
}

TEST(GoldenFigures, WindowsSortedAtEveryEvent) {
  const auto path = find_trace(kLublin);
  if (!path) {
    GTEST_SKIP() << kMissing;
  }
  EXPECT_EQ(windows(*path, "fifo", false), "7273.77");
  EXPECT_EQ(windows(*path, "sjf", false), "47.16");
  EXPECT_EQ(windows(*path, "f1", false), "34.53");
  EXPECT_EQ(windows(*path, "easy", false), "271.40");
  EXPECT_EQ(windows(*path, "sjf+easy", false), "42.08");
  EXPECT_EQ(windows(*path, "f1+easy", false), "35.26");
}

// As published: the chosen job is waited for, and events of one moment are taken one by one.
TEST(GoldenFigures, WindowsByRlSchedulersRules) {
  const auto path = find_trace(kLublin);
  if (!path) {
    GTEST_SKIP() << kMissing;
  }
  EXPECT_EQ(windows(*path, "fifo+commit", true), "7273.77");
  EXPECT_EQ(windows(*path, "sjf+commit", true), "277.35");
  EXPECT_EQ(windows(*path, "f1+commit", true), "258.37");
  EXPECT_EQ(windows(*path, "fifo+commit+backfill", true), "235.82");
  EXPECT_EQ(windows(*path, "sjf+commit+backfill", true), "73.31");
  EXPECT_EQ(windows(*path, "f1+commit+backfill", true), "75.07");
}

}  // namespace
}  // namespace berth
