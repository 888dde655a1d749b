#include "core/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace berth {
namespace {

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BERTH_TESTS_DIR "/scenarios")) {
    if (entry.path().extension() == ".txt") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ScenarioTest : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, Holds) {
  std::ifstream file(BERTH_TESTS_DIR "/scenarios/" + GetParam() + ".txt");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(run_scenario(text.str()), "");
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, testing::ValuesIn(scenario_names()),
                         [](const auto& scenario) { return scenario.param; });

// The runner itself must be able to fail.
TEST(ScenarioRunner, SeesWhatIsWrong) {
  EXPECT_EQ(run_scenario("devices 1\nsubmit a\nexpect start a on 1"),
            "line 3: what happened is: start a on 0");
  EXPECT_EQ(run_scenario("devices 1\nsubmit a"), "line 2: not expected: start a on 0");
  EXPECT_EQ(run_scenario("devices 1\nexpect start a on 0"), "line 2: nothing happened");
  EXPECT_EQ(run_scenario("devices 1\nrefused submit a"), "line 2: it was not refused");
}

}  // namespace
}  // namespace berth
