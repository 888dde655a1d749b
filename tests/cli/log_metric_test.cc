// Which figure of a log is a job's metric.
#include "cli/results/log_metric.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

std::string last(const char* pattern, const std::string& log) {
  const Result<LogMetric> metric = LogMetric::parse(pattern);
  return metric ? metric->last_in(log).value_or("none") : metric.error().message;
}

TEST(LogMetric, IsTheLastMatch) {
  EXPECT_EQ(last("acc=([0-9.]+)", "acc=0.1\nacc=0.2 acc=0.3\nover\n"), "0.3");
  EXPECT_EQ(last("acc=([0-9.]+)", "loss=1\n"), "none");
  EXPECT_EQ(last("acc=([0-9.]+)", ""), "none");
  EXPECT_EQ(last("step (\\d+)", "step 1\rstep 2\rstep 3"), "3");
}

TEST(LogMetric, AWordIsTheNameOfItsValue) {
  for (const char* log :
       {"val_acc 0.9", "val_acc=0.9", "val_acc: 0.9, next", "{\"val_acc\": 0.9}"}) {
    EXPECT_EQ(last("val_acc", log), "0.9") << log;
  }
}

TEST(LogMetric, ALongLineIsNoDanger) {
  EXPECT_EQ(last("(?:a|b)*acc=(.*)", std::string(1 << 20, 'a') + "acc=1"), "1");
  EXPECT_NE(last("(", "").find("is not a regular expression"), std::string::npos);
}

}  // namespace
}  // namespace berth
