#include "drive/drive_scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace berth {
namespace {

constexpr const char* kScenarios = BERTH_TESTS_DIR "/drive/scenarios";

std::vector<std::string> drive_scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kScenarios)) {
    if (entry.path().extension() == ".txt") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class DriveScenarioTest : public testing::TestWithParam<std::string> {};

TEST_P(DriveScenarioTest, Holds) {
  std::ifstream file(std::string(kScenarios) + "/" + GetParam() + ".txt");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(run_drive_scenario(text.str()), "");
}

INSTANTIATE_TEST_SUITE_P(Files, DriveScenarioTest, testing::ValuesIn(drive_scenario_names()),
                         [](const auto& scenario) { return scenario.param; });

// The runner itself must be able to fail.
TEST(DriveScenarioRunner, SeesWhatIsWrong) {
  EXPECT_EQ(run_drive_scenario("devices 1\nsubmit a\nexpect launch a on 1"),
            "line 3: what happened is: launch a on 0");
  EXPECT_EQ(run_drive_scenario("devices 1\nsubmit a"), "line 2: not expected: launch a on 0");
  EXPECT_EQ(run_drive_scenario("devices 1\nreading\nexpect launch a on 0"),
            "line 3: nothing happened");
  EXPECT_EQ(run_drive_scenario("devices 1\nforeign 0 1GiB"), "line 2: it is: 0 B");
  EXPECT_EQ(run_drive_scenario("devices 1\nrefused submit a"), "line 2: it was not refused");
}

}  // namespace
}  // namespace berth
