// `--gpus`, with and without drivers. (With NVIDIA's: tests/e2e/gpus_test.py, through the loader.)
#include <gtest/gtest.h>

#include "fixture.h"
#include "gpu/devices.h"

namespace berth {
namespace {

class OpenDevicesTest : public ::testing::Test {
 protected:
  void add_amd_cards() {
    for (const char* number : {"1", "2", "3"}) {
      const std::string device = std::string("class/drm/card") + number + "/device/";
      folder_.write(device + "vendor", "0x1002\n");
      folder_.write(device + "uevent", std::string("PCI_SLOT_NAME=0000:0") + number + ":00.0\n");
      folder_.write(device + "mem_info_vram_total", "1000\n");
      folder_.write(device + "unique_id", std::string("a") + number + "\n");
    }
  }
  static std::vector<std::string> names(const std::string& gpus) {
    auto devices = open_devices(gpus);
    std::vector<std::string> names;
    if (!devices) {
      return {"error: " + devices.error().message};
    }
    for (const DeviceInfo& device : (*devices)->list()) {
      names.push_back(device.spec.name);
    }
    return names;
  }
  using Names = std::vector<std::string>;

  TempFolder folder_;
  ScopedVariable sysfs_{"BERTH_SYSFS_ROOT", folder_.path().c_str()};
  ScopedVariable no_mask_{"CUDA_VISIBLE_DEVICES", nullptr};
  ScopedVariable no_amd_mask_{"ROCR_VISIBLE_DEVICES", nullptr};
  ScopedVariable no_driver_{"BERTH_SIM_STATE", nullptr};
};

TEST_F(OpenDevicesTest, WithoutADriverIdsAreTrusted) {
  EXPECT_EQ(names("0,1,3:1"), (Names{"0", "1", "3:1"}));
  EXPECT_EQ(names("0 1\t2"), (Names{"0", "1", "2"}));
  EXPECT_EQ(names("0,0, 1,"), (Names{"0", "0", "1"}));
  auto devices = open_devices("7,GPU-abc");
  ASSERT_TRUE(devices.has_value());
  EXPECT_EQ((*devices)->list()[1].visible, "GPU-abc");
  EXPECT_EQ((*devices)->sample().size(), 2U);
  EXPECT_FALSE((*devices)->set_power_limit(0, 100).has_value());
}

TEST_F(OpenDevicesTest, SlotsOnTheProcessor) {
  EXPECT_EQ(names("cpu,0,cpu"), (Names{"0", "cpu", "cpu"}));
  EXPECT_EQ(names("cpu"), (Names{"cpu"}));
  const auto devices = open_devices("cpu");
  ASSERT_TRUE(devices.has_value());
  EXPECT_EQ((*devices)->list()[0].visible, "");
  EXPECT_FALSE(open_devices("auto,cpu").has_value());  // no driver
  add_amd_cards();
  const auto mixed = open_devices("1,cpu");
  ASSERT_TRUE(mixed.has_value());
  EXPECT_EQ(visibility(std::vector{(*mixed)->list()[1]}).at("ROCR_VISIBLE_DEVICES"), "");
}

TEST_F(OpenDevicesTest, WithoutADriverAutoSaysWhatToType) {
  for (const char* gpus : {"auto", "all"}) {
    const auto devices = open_devices(gpus);
    ASSERT_FALSE(devices.has_value());
    EXPECT_NE(devices.error().message.find("no GPU found"), std::string::npos);
    EXPECT_NE(devices.error().message.find("--gpus sim:4"), std::string::npos);
    EXPECT_NE(devices.error().message.find("--gpus 0,1"), std::string::npos);
  }
}

TEST_F(OpenDevicesTest, ListsThatMakeNoSense) {
  for (const char* gpus : {"", " ", ",", "auto,0", "0 all", "sim:2,sim:3", "0,sim:2", "foo",
                           "0,nonsense:1", ":1", "-1", "gpu-5f3c"}) {
    const auto devices = open_devices(gpus);
    ASSERT_FALSE(devices.has_value()) << gpus;
    EXPECT_EQ(devices.error().code, ErrorCode::Usage) << gpus;
  }
}

TEST_F(OpenDevicesTest, WithADriverIdsMustExist) {
  add_amd_cards();
  EXPECT_EQ(names("auto"), (Names{"0", "1", "2"}));
  EXPECT_EQ(names("2,0,2"), (Names{"2", "0", "2"}));
  EXPECT_EQ(names("GPU-00000000000000a2"), (Names{"1"}));
  const auto devices = open_devices("0,7");
  ASSERT_FALSE(devices.has_value());
  EXPECT_EQ(devices.error().code, ErrorCode::NotFound);
  EXPECT_NE(devices.error().message.find("'7'"), std::string::npos) << devices.error().message;
  EXPECT_NE(devices.error().message.find("GPU-00000000000000a3"), std::string::npos);
}

TEST_F(OpenDevicesTest, AutoObeysAnInheritedMaskAndAllDoesNot) {
  add_amd_cards();
  const ScopedVariable mask("ROCR_VISIBLE_DEVICES", "2,0");
  EXPECT_EQ(names("auto"), (Names{"2", "0"}));
  EXPECT_EQ(names("all"), (Names{"0", "1", "2"}));
  EXPECT_EQ(names("1"), (Names{"1"}));
  const ScopedVariable nothing("ROCR_VISIBLE_DEVICES", "");
  EXPECT_NE(names("auto")[0].find("hides all devices"), std::string::npos);
}

}  // namespace
}  // namespace berth
