// The last ten minutes of the devices.
#include "daemon/device_history.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using Values = std::vector<std::optional<double>>;

Time seconds_in(double seconds) {
  return Time(Duration(static_cast<std::int64_t>((1'700'000'000 + seconds) * 1e9)));
}

DeviceSample busy(int percent) {
  DeviceSample sample;
  sample.utilization = percent;
  return sample;
}

TEST(DeviceHistory, IsEmptyAtFirst) {
  EXPECT_EQ(DeviceHistory().values(0, DeviceHistory::kPower), Values{});
}

TEST(DeviceHistory, HasTheMeanOfEachInterval) {
  DeviceHistory history;
  history.add(seconds_in(0), {busy(10), DeviceSample{}});
  history.add(seconds_in(1.5), {busy(30), DeviceSample{}});
  history.add(seconds_in(2), {busy(50), busy(1)});
  history.add(seconds_in(8.1), {busy(70), busy(2)});
  EXPECT_EQ(history.from(), seconds_in(0));
  EXPECT_EQ(history.values(0, DeviceHistory::kUtilization),
            (Values{20, 50, std::nullopt, std::nullopt, 70}));
  EXPECT_EQ(history.values(1, DeviceHistory::kUtilization),
            (Values{std::nullopt, 1, std::nullopt, std::nullopt, 2}));
  EXPECT_EQ(history.values(0, DeviceHistory::kUsed), Values(5));
  EXPECT_EQ(history.values(7, DeviceHistory::kUtilization), Values(5)) << "a device that joins";
}

TEST(DeviceHistory, ForgetsWhatIsOlderThanTenMinutes) {
  DeviceHistory history;
  for (int i = 0; i < 1000; ++i) {
    history.add(seconds_in(i), {busy(i / 10)});
  }
  EXPECT_EQ(history.from(), seconds_in(400));
  const Values values = history.values(0, DeviceHistory::kUtilization);
  EXPECT_EQ(values.size(), 300U);
  EXPECT_EQ(values.front(), 40);
  EXPECT_EQ(values.back(), 99);
  history.add(seconds_in(1'000'000), {busy(5)});
  EXPECT_EQ(history.from(), seconds_in(1'000'000));
  EXPECT_EQ(history.values(0, DeviceHistory::kUtilization), Values{5});
}

TEST(DeviceHistory, OutlivesTheDaemonByTheNamesOfDevices) {
  DeviceHistory history;
  DeviceSample sample;
  sample.power = 99.5;
  history.add(Time(std::chrono::seconds(1000)), {sample, DeviceSample{}});
  const std::string bytes = history.encode({"a", "b"});
  const auto read = DeviceHistory::decode(bytes, {"b", "a"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->from(), history.from());
  EXPECT_EQ(read->values(1, DeviceHistory::kPower), std::vector<std::optional<double>>{99.5});
  EXPECT_EQ(read->values(0, DeviceHistory::kPower),
            std::vector<std::optional<double>>{std::nullopt});
  EXPECT_FALSE(DeviceHistory::decode(bytes.substr(0, bytes.size() - 1), {"a", "b"}));
  EXPECT_FALSE(DeviceHistory::decode("", {"a"}));
}

}  // namespace
}  // namespace berth
