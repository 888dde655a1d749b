// Time enters policies as waits and lengths only: a year later, everything goes the same way.
#include "sim/generate.h"
#include "sim/runs.h"

namespace berth {
namespace {

class Shift : public testing::TestWithParam<std::string> {};

TEST_P(Shift, AYearLaterNothingDiffers) {
  constexpr const char* kMachine = "2x4";
  constexpr Duration kYear = std::chrono::hours(24 * 365);
  Result<Workload> made = generate("lublin:n=300,load=1.5", *parse_machine(kMachine), /*seed=*/7);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  for (std::size_t i = 0; i < made->jobs.size(); ++i) {
    SimJob& job = made->jobs[i];
    job.owner = static_cast<std::uint32_t>(i % 3);
    job.priority = static_cast<std::int32_t>(i % 2);
    job.expected = job.duration * (1 + static_cast<int>(i % 5)) / 2;
  }
  made->owners = {"ann", "bob", "eve"};
  const std::vector<JobOutcome> now = test::run(*made, kMachine, GetParam()).run.outcomes;
  for (SimJob& job : made->jobs) {
    job.submit += kYear;
  }
  const std::vector<JobOutcome> later = test::run(*made, kMachine, GetParam()).run.outcomes;
  ASSERT_EQ(now.size(), later.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(now[i].started + kYear, later[i].started) << "job " << i;
    EXPECT_EQ(now[i].ended + kYear, later[i].ended) << "job " << i;
  }
}

std::vector<std::string> all_policies() {
  const std::vector<std::string_view> names = policy_names();
  std::vector<std::string> all(names.begin(), names.end());
  for (const char* combined : {"sjf+easy", "f1+easy", "f1+commit", "f1+commit+backfill"}) {
    all.emplace_back(combined);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Policies, Shift, testing::ValuesIn(all_policies()),
                         [](const auto& row_info) {
                           std::string name = row_info.param;
                           std::replace(name.begin(), name.end(), '+', '_');
                           return name;
                         });

}  // namespace
}  // namespace berth
