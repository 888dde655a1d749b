#include "daemon/shadow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/loop.h"

namespace berth {
namespace {

TEST(Shadow, IsDueADayAfterItWasNamed) {
  Loop loop;
  Shadow shadow(loop);
  EXPECT_EQ(shadow.due(), kNever);
  const Time now(std::chrono::hours(100));
  shadow.follow("rl", now);
  EXPECT_EQ(shadow.due(), now + std::chrono::hours(24));
  shadow.check("priority", now + std::chrono::hours(23));
  EXPECT_FALSE(shadow.busy());
  shadow.follow("", now);
  EXPECT_EQ(shadow.due(), kNever);
}

TEST(Shadow, TellsWhatWouldHaveBeenSaved) {
  constexpr std::string_view kRow =
      R"({{"policy":"{}","placement":"idle","jobs":12,"runs":1,"mean_wait_s":{},"mean_completion_s":{}}})";
  const std::string rows = fmt::format(fmt::runtime(kRow), "recorded", 9, 9) + "," +
                           fmt::format(fmt::runtime(kRow), "fifo", 100, 400) + "," +
                           fmt::format(fmt::runtime(kRow), "rl:mine.berth", 50, 440);
  EXPECT_EQ(compare_in_words(R"({"version":1,"results":[)" + rows + "]}"),
            "the last day's 12 jobs under rl:mine.berth, simulated: a mean wait of 50 s instead of "
            "100 s (50 % less), and a mean completion time of 440 s instead of 400 s (10 % more)");
  EXPECT_EQ(compare_in_words("nonsense"), "the last day could not be played again");
}

}  // namespace
}  // namespace berth
