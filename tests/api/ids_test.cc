// Numbers as runs.
#include "api/messages/ids.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

struct RunsCase {
  const char* name;
  std::vector<std::uint64_t> numbers;
  const char* text;
};

class Runs : public ::testing::TestWithParam<RunsCase> {};

TEST_P(Runs, AreAsShortAsTheyCanBe) {
  IdsReplyWriter runs;
  for (const std::uint64_t number : GetParam().numbers) {
    runs.add(JobId{number});
  }
  EXPECT_EQ(runs.take({{"held", 3}, {"queued", 1}}),
            fmt::format(R"({{"version":1,"runs":{},"count":4,"states":{{"held":3,"queued":1}}}})",
                        GetParam().text));
  EXPECT_EQ(runs.size(), GetParam().numbers.size());
}

INSTANTIATE_TEST_SUITE_P(
    Api, Runs,
    ::testing::Values(RunsCase{"none", {}, "[]"}, RunsCase{"one", {7}, "[[7,1,0]]"},
                      RunsCase{"up", {1, 2, 3}, "[[1,3,1]]"},
                      RunsCase{"down", {3, 2, 1}, "[[3,3,-1]]"},
                      RunsCase{"turns", {1, 2, 1, 2}, "[[1,2,1],[1,2,1]]"},
                      RunsCase{"gaps", {1, 3, 4, 9}, "[[1,1,0],[3,2,1],[9,1,0]]"},
                      RunsCase{"again", {5, 5}, "[[5,1,0],[5,1,0]]"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace berth
