// The AMD backend against a sysfs tree in a temporary folder.
#include <gtest/gtest.h>

#include "fixture.h"
#include "gpu/amd/amd_devices.h"

namespace berth {
namespace {

class AmdTest : public ::testing::Test {
 protected:
  void card(const std::string& name, const std::string& bus, const std::string& unique_id) {
    const std::string device = "class/drm/" + name + "/device/";
    folder_.write(device + "vendor", "0x1002\n");
    folder_.write(device + "device", "0x740f\n");
    folder_.write(device + "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=" + bus + "\n");
    folder_.write(device + "mem_info_vram_total", "68702699520\n");
    folder_.write(device + "mem_info_vram_used", "11272192\n");
    folder_.write(device + "gpu_busy_percent", "37\n");
    folder_.write(device + "numa_node", "1\n");
    if (!unique_id.empty()) {
      folder_.write(device + "unique_id", unique_id + "\n");
    }
    folder_.write(device + "hwmon/hwmon3/power1_average", "94000000\n");
    folder_.write(device + "hwmon/hwmon3/power1_cap", "300000000\n");
    folder_.write(device + "hwmon/hwmon3/temp1_input", "41000\n");
  }

  TempFolder folder_;
};

TEST_F(AmdTest, AnEmptyTreeHasNoDevices) {
  EXPECT_TRUE(open_amd(folder_.path())->list().empty());
  EXPECT_TRUE(open_amd(folder_.path() + "/missing")->list().empty());
}

TEST_F(AmdTest, ListsCardsByBusAndSkipsWhatIsNone) {
  card("card1", "0000:43:00.0", "aabbccddeeff0011");
  card("card0", "0000:83:00.0", "0x1234");
  folder_.write("class/drm/card0-DP-1/device/vendor", "0x1002\n");
  folder_.write("class/drm/card2/device/vendor", "0x10de\n");
  folder_.write("class/drm/card1/device/product_name", "AMD Instinct MI210\n");
  const auto devices = open_amd(folder_.path());
  ASSERT_EQ(devices->list().size(), 2U);
  const DeviceInfo& first = devices->list()[0];
  EXPECT_EQ(first.spec.name, "0");
  EXPECT_EQ(first.pci_bus, "0000:43:00.0");
  EXPECT_EQ(first.spec.model, "AMD Instinct MI210");
  EXPECT_EQ(first.spec.uuid, "GPU-aabbccddeeff0011");
  EXPECT_EQ(first.visible, "GPU-aabbccddeeff0011");
  EXPECT_EQ(first.spec.memory, Bytes{68702699520});
  EXPECT_EQ(first.spec.locality.numa, 1);
  EXPECT_EQ(first.family, DeviceFamily::Amd);
  EXPECT_EQ(devices->list()[1].visible, "GPU-0000000000001234");
  EXPECT_EQ(devices->list()[1].spec.model, "AMD 0x740f");
  EXPECT_NE(first.spec.locality.island, devices->list()[1].spec.locality.island);
}

TEST_F(AmdTest, GraphicsOfTheProcessorAreSkippedBesideACard) {
  card("card0", "0000:06:00.0", "");
  EXPECT_EQ(open_amd(folder_.path())->list().size(), 1U);
  EXPECT_EQ(open_amd(folder_.path())->list()[0].visible, "0");
  card("card1", "0000:43:00.0", "aabbccddeeff0011");
  const auto devices = open_amd(folder_.path());
  ASSERT_EQ(devices->list().size(), 1U);
  EXPECT_EQ(devices->list()[0].pci_bus, "0000:43:00.0");
}

TEST_F(AmdTest, AHiveIsAnIsland) {
  card("card0", "0000:03:00.0", "1");
  card("card1", "0000:04:00.0", "2");
  folder_.write("class/drm/card0/device/xgmi_hive_info/xgmi_hive_id", "77\n");
  folder_.write("class/drm/card1/device/xgmi_hive_info/xgmi_hive_id", "77\n");
  const auto devices = open_amd(folder_.path());
  EXPECT_EQ(devices->list()[0].spec.locality.island, devices->list()[1].spec.locality.island);
}

TEST_F(AmdTest, ReadsWhatIsThere) {
  card("card0", "0000:43:00.0", "1");
  const auto devices = open_amd(folder_.path());
  DeviceSample sample = devices->sample()[0];
  EXPECT_EQ(sample.used, Bytes{11272192});
  EXPECT_EQ(sample.utilization, 37);
  EXPECT_EQ(sample.power, 94.0);
  EXPECT_EQ(sample.power_limit, 300.0);
  EXPECT_EQ(sample.temperature, 41);
  EXPECT_FALSE(sample.energy.has_value());
  EXPECT_FALSE(sample.lost);

  const std::string device = folder_.path() + "/class/drm/card0/device/";
  std::filesystem::remove(device + "hwmon/hwmon3/power1_average");
  folder_.write("class/drm/card0/device/hwmon/hwmon3/power1_input", "88500000\n");
  std::filesystem::remove(device + "gpu_busy_percent");
  folder_.write("class/drm/card0/device/mem_info_vram_used", "garbage\n");
  sample = devices->sample()[0];
  EXPECT_EQ(sample.power, 88.5);
  EXPECT_FALSE(sample.utilization.has_value());
  EXPECT_FALSE(sample.used.has_value());

  std::filesystem::remove_all(folder_.path() + "/class/drm/card0");
  EXPECT_TRUE(devices->sample()[0].lost);
}

TEST_F(AmdTest, ProcessesComeFromTheComputeDriver) {
  card("card0", "0000:43:00.0", "1");
  card("card1", "0000:83:00.0", "2");
  const std::string kfd = "class/kfd/kfd/";
  folder_.write(kfd + "topology/nodes/0/gpu_id", "0\n");
  folder_.write(kfd + "topology/nodes/1/gpu_id", "29122\n");
  folder_.write(kfd + "topology/nodes/1/properties",
                "simd_count 440\nlocation_id 17152\ndomain 0\n");
  folder_.write(kfd + "topology/nodes/2/gpu_id", "4311\n");
  folder_.write(kfd + "topology/nodes/2/properties", "location_id 33536\n");
  folder_.write(kfd + "proc/4242/vram_29122", "1048576\n");
  folder_.write(kfd + "proc/4242/vram_4311", "0\n");
  folder_.write(kfd + "proc/5000/vram_4311", "2097152\n");
  const auto samples = open_amd(folder_.path())->sample();
  ASSERT_EQ(samples[0].processes.size(), 1U);
  EXPECT_EQ(samples[0].processes[0].pid, 4242);
  EXPECT_EQ(samples[0].processes[0].memory, mebibytes(1));
  ASSERT_EQ(samples[1].processes.size(), 1U);
  EXPECT_EQ(samples[1].processes[0].pid, 5000);
}

TEST_F(AmdTest, SetsThePowerLimit) {
  card("card0", "0000:43:00.0", "1");
  const auto devices = open_amd(folder_.path());
  ASSERT_TRUE(devices->set_power_limit(0, 250).has_value());
  EXPECT_EQ(devices->sample()[0].power_limit, 250.0);
  std::filesystem::remove_all(folder_.path() + "/class");
  EXPECT_FALSE(devices->set_power_limit(0, 250).has_value());
}

}  // namespace
}  // namespace berth
