#include "record/use_csv.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(UseCsv, HasTheHeaderOfNvidiaSmi) {
  EXPECT_EQ(kUseHeader,
            "index, timestamp, name, utilization.gpu [%], utilization.memory [%], power.draw "
            "[W]\n");
}

TEST(UseCsv, WritesLinesAsNvidiaSmiDoes) {
  DeviceInfo device;
  device.spec.name = "0";
  device.spec.model = "Tesla P100-PCIE-12GB";
  DeviceSample sample;
  sample.utilization = 97;
  sample.memory_busy = 41;
  sample.power = 131.7;
  EXPECT_EQ(use_row(device, sample, "2024/11/20 14:03:22.123"),
            "0, 2024/11/20 14:03:22.123, Tesla P100-PCIE-12GB, 97 %, 41 %, 131.70 W\n");
}

TEST(UseCsv, SaysWhatTheDriverDoesNotTell) {
  DeviceInfo device;
  device.spec.name = "1";
  device.spec.model = "a, b";
  EXPECT_EQ(use_row(device, {}, "T"), "1, T, a  b, [N/A], [N/A], [N/A]\n");
}

}  // namespace
}  // namespace berth
