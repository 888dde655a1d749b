#include "record/recording.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth {
namespace {

Time at(double seconds) {
  return Time(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

DeviceInfo device(const std::string& name) {
  DeviceInfo info;
  info.spec.name = name;
  return info;
}

DeviceSample drawing(double watts, int utilization = 0) {
  DeviceSample sample;
  sample.power = watts;
  sample.utilization = utilization;
  return sample;
}

TEST(Recording, TakesTheEnergyThatTheDriverCounts) {
  Recording recording({device("0")});
  for (int i = 0; i <= 10; ++i) {
    DeviceSample sample = drawing(100);
    sample.energy = 5000 + 123.0 * i;
    recording.sampled({sample}, at(i));
  }
  const DeviceRecord record = recording.devices().at(0);
  EXPECT_TRUE(record.counted);
  EXPECT_DOUBLE_EQ(*record.joules, 1230);
}

/// A job of 300 W for 100 s on a device that idles at 25 W, at times that fit no reading.
TEST(Recording, MakesEnergyOfPowerWithinOnePercent) {
  Recording recording({device("0")});
  for (double now = 0; now <= 200; now += 0.9) {
    const bool busy = now >= 50.3 && now < 150.3;
    recording.sampled({drawing(busy ? 300 : 25, busy ? 100 : 0)}, at(now));
  }
  const DeviceRecord record = recording.devices().at(0);
  EXPECT_FALSE(record.counted);
  const double length = to_seconds(recording.end() - recording.begin());
  const double expected = 300 * 100 + 25 * (length - 100);
  EXPECT_NEAR(*record.joules, expected, expected * 0.01);
  EXPECT_NEAR(*record.mean_utilization, 100 * 100 / length, 1);
  EXPECT_DOUBLE_EQ(record.peak_watts, 300);
}

TEST(Recording, StaysSmallAndKeepsItsTotals) {
  Recording recording({device("0")});
  constexpr int kReadings = 200'001;
  for (int i = 0; i < kReadings; ++i) {
    recording.sampled({drawing(150, 50)}, at(i));
  }
  const DeviceRecord record = recording.devices().at(0);
  EXPECT_LT(record.points.size(), 5000U);
  EXPECT_GT(record.points.size(), 1000U);
  EXPECT_EQ(record.readings, static_cast<std::uint64_t>(kReadings));
  EXPECT_NEAR(*record.joules, 150.0 * (kReadings - 1), 1);
  EXPECT_NEAR(*record.mean_utilization, 50, 1e-6);
  for (std::size_t i = 1; i < record.points.size(); ++i) {
    ASSERT_LT(record.points[i - 1].at, record.points[i].at);
    ASSERT_NEAR(record.points[i].watts, 150, 1e-6);
  }
}

TEST(Recording, CountsADeviceOnceThatIsListedTwice) {
  Recording recording({device("0"), device("0"), device("1")});
  recording.sampled({drawing(10), drawing(10), drawing(20)}, at(0));
  recording.sampled({drawing(10), drawing(10), drawing(20)}, at(1));
  ASSERT_EQ(recording.devices().size(), 2U);
  EXPECT_DOUBLE_EQ(*recording.devices()[0].joules, 10);
  EXPECT_DOUBLE_EQ(*recording.devices()[1].joules, 20);
}

TEST(Recording, KnowsWhoWasWhere) {
  Recording recording({device("0"), device("1")});
  recording.enter(7, "seven", 1, at(1));
  recording.enter(7, "seven", 1, at(2));  // is there already
  recording.leave(7, 1, at(3));
  recording.enter(7, "seven", 0, at(4));
  recording.enter(8, "eight", 1, at(5));
  recording.leave(9, 1, at(5));  // never came
  recording.finish(at(6));
  EXPECT_EQ(recording.names(), (std::vector<std::string>{"seven", "eight"}));
  ASSERT_EQ(recording.occupations().size(), 3U);
  const Occupation& first = recording.occupations()[0];
  EXPECT_EQ(first.from, at(1));
  EXPECT_EQ(first.to, at(3));
  EXPECT_EQ(recording.occupations()[1].device, 0U);
  EXPECT_EQ(recording.occupations()[2].to, at(6));
}

}  // namespace
}  // namespace berth
