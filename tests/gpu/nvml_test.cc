// The NVML backend against a driver library that is loaded for real and made of simulated devices.
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "fixture.h"
#include "gpu/nvml/nvml_devices.h"

namespace berth {
namespace {

class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() { EXPECT_TRUE(SimState::open_or_create(path_, {4, gibibytes(24)}).has_value()); }

  std::unique_ptr<DriverDevices> open(const std::string& variant = "fake_nvml") {
    auto devices = open_nvml(BERTH_BUILD_DIR "/" + variant + "/libnvidia-ml.so.1", folder_.path());
    EXPECT_TRUE(devices.has_value()) << (devices ? "" : devices.error().message);
    return std::move(*devices);
  }
  void change(const std::function<void(SimHeader&, std::span<SimRecord>)>& body) {
    SimState::open(path_).value()->locked(body);
  }

  TempFolder folder_;
  std::string path_ = folder_.path() + "/devices";
  ScopedVariable named_{"BERTH_SIM_STATE", path_.c_str()};
};

TEST_F(NvmlTest, ListsDevices) {
  folder_.write("bus/pci/devices/0000:03:00.0/numa_node", "1\n");
  folder_.write("bus/pci/devices/0000:04:00.0/numa_node", "-1\n");
  const auto devices = open();
  ASSERT_EQ(devices->list().size(), 4U);
  const DeviceInfo& device = devices->list()[2];
  EXPECT_EQ(device.spec.name, "2");
  EXPECT_EQ(device.spec.model, "Simulated GPU");
  EXPECT_EQ(device.spec.memory, gibibytes(24));
  EXPECT_EQ(device.pci_bus, "0000:03:00.0");
  EXPECT_EQ(device.spec.locality.numa, 1);
  EXPECT_EQ(devices->list()[3].spec.locality.numa, 0);
  EXPECT_TRUE(device.visible.starts_with("GPU-"));
  EXPECT_EQ(device.family, DeviceFamily::Nvidia);
}

TEST_F(NvmlTest, ReadsEverything) {
  const auto devices = open();
  SimJobPlan plan = holding(gibibytes(6));
  plan.utilization = 70;
  plan.watts = 300;
  Child job([&] { return simulate(path_, {2}, plan); });
  ASSERT_NE(job.read_line(), "");
  const DeviceSample sample = devices->sample()[2];
  EXPECT_FALSE(sample.lost);
  EXPECT_EQ(sample.used, gibibytes(6)) << "what the driver keeps for itself does not count";
  EXPECT_EQ(sample.utilization, 70);
  EXPECT_EQ(sample.power, 300.0);
  EXPECT_EQ(sample.power_limit, 350.0);
  EXPECT_TRUE(sample.energy.has_value());
  EXPECT_GT(sample.temperature.value_or(0), 40);
  ASSERT_EQ(sample.processes.size(), 1U);
  EXPECT_EQ(sample.processes[0].pid, job.pid());
  EXPECT_EQ(sample.processes[0].memory, gibibytes(6));
}

struct DriverCase {
  const char* name;
  const char* library;
  const char* version;

  friend std::ostream& operator<<(std::ostream& out, const DriverCase& row) {
    return out << row.name;
  }
};

class NvmlProcessTest : public NvmlTest, public ::testing::WithParamInterface<DriverCase> {};

TEST_P(NvmlProcessTest, EveryFormOfTheProcessListIsUnderstood) {
  change([](SimHeader& header, std::span<SimRecord>) {
    set_sim_text(header.driver, GetParam().version);
  });
  const auto devices = open(GetParam().library);
  SimJobPlan through_mps = holding(gibibytes(2));
  through_mps.via_mps = true;
  Child first([&] { return simulate(path_, {0}, holding(gibibytes(1))); });
  Child second([&] { return simulate(path_, {0}, through_mps); });
  Child third([&] { return simulate(path_, {0}, holding(gibibytes(3))); });
  ASSERT_TRUE(first.read_line() != "" && second.read_line() != "" && third.read_line() != "");
  std::map<pid_t, Bytes> found;
  const std::vector<DeviceSample> samples = devices->sample();
  for (const ProcessUse& process : samples[0].processes) {
    found[process.pid] = process.memory;
  }
  const std::map<pid_t, Bytes> expected = {
      {first.pid(), gibibytes(1)}, {second.pid(), gibibytes(2)}, {third.pid(), gibibytes(3)}};
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Drivers, NvmlProcessTest,
                         ::testing::Values(DriverCase{"v3", "fake_nvml", "550.54.15"},
                                           DriverCase{"before_v3", "fake_nvml_old", "450.80.02"},
                                           DriverCase{"odd_v3", "fake_nvml", "535.54.03"},
                                           DriverCase{"odd_v3_last", "fake_nvml", "535.86.10"},
                                           DriverCase{"v3_gone", "fake_nvml", "535.98"},
                                           DriverCase{"v3_gone_later", "fake_nvml", "535.104.05"},
                                           DriverCase{"no_version", "fake_nvml", "?"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(NvmlTest, MoreProcessesThanTheFirstBufferHolds) {
  const auto devices = open();
  std::deque<Child> children;
  for (int i = 0; i < 70; ++i) {
    children.emplace_back([&] { return simulate(path_, {0}, holding(mebibytes(10))); });
  }
  for (Child& child : children) {
    ASSERT_NE(child.read_line(), "");
  }
  EXPECT_EQ(devices->sample()[0].processes.size(), 70U);
}

TEST_F(NvmlTest, AnOldDriverSaysLess) {
  change([](SimHeader&, std::span<SimRecord> records) { records[0].mig_slices = 2; });
  const auto devices = open("fake_nvml_old");
  ASSERT_EQ(devices->list().size(), 4U) << "no MIG there";
  const DeviceSample sample = devices->sample()[0];
  EXPECT_EQ(sample.used, mebibytes(512)) << "the older call counts the driver's own share";
  EXPECT_FALSE(sample.energy.has_value());
  EXPECT_TRUE(sample.power.has_value());
}

TEST_F(NvmlTest, ABareDriverStillListsDevices) {
  const auto devices = open("fake_nvml_bare");
  ASSERT_EQ(devices->list().size(), 4U);
  EXPECT_EQ(devices->list()[3].visible, "3");
  EXPECT_EQ(devices->list()[3].spec.memory, Bytes{});
  const DeviceSample sample = devices->sample()[3];
  EXPECT_FALSE(sample.lost || sample.used || sample.utilization || sample.power || sample.energy ||
               sample.power_limit || sample.temperature || sample.last_xid);
  EXPECT_FALSE(devices->set_power_limit(0, 200).has_value());
}

TEST_F(NvmlTest, UnsupportedFieldsAreAbsentOneByOne) {
  const auto devices = open();
  change([](SimHeader&, std::span<SimRecord> records) {
    records[0].unsupported = kSimPower | kSimMemory | kSimProcesses;
    records[1].unsupported = kSimUtilization | kSimTemperature | kSimEnergy | kSimPowerLimit;
  });
  const auto samples = devices->sample();
  EXPECT_FALSE(samples[0].power || samples[0].used);
  EXPECT_TRUE(samples[0].utilization && samples[0].temperature && samples[0].energy);
  EXPECT_FALSE(samples[1].utilization || samples[1].temperature || samples[1].energy ||
               samples[1].power_limit);
  EXPECT_TRUE(samples[1].power && samples[1].used);
}

TEST_F(NvmlTest, ADeviceThatFallsOffTheBusIsLostAndKeepsItsPlace) {
  const auto devices = open();
  change([](SimHeader&, std::span<SimRecord> records) { records[1].lost = 1; });
  const auto samples = devices->sample();
  EXPECT_TRUE(samples[1].lost);
  EXPECT_FALSE(samples[1].used.has_value());
  EXPECT_FALSE(samples[0].lost || samples[2].lost);
  const auto later = open();
  ASSERT_EQ(later->list().size(), 4U);
  EXPECT_EQ(later->list()[2].spec.name, "2");
  EXPECT_TRUE(later->sample()[1].lost);
}

TEST_F(NvmlTest, XidsAreToldOnce) {
  const auto devices = open();
  EXPECT_FALSE(devices->sample()[1].last_xid.has_value());
  change([](SimHeader&, std::span<SimRecord> records) {
    records[1].last_xid = 48;
    ++records[1].xid_count;
  });
  const auto samples = devices->sample();
  EXPECT_EQ(samples[1].last_xid, 48U);
  EXPECT_FALSE(samples[0].last_xid.has_value());
  EXPECT_FALSE(devices->sample()[1].last_xid.has_value());
}

TEST_F(NvmlTest, PowerLimits) {
  const auto devices = open();
  EXPECT_TRUE(devices->set_power_limit(1, 200).has_value());
  EXPECT_EQ(devices->sample()[1].power_limit, 200.0);
  const auto refused = devices->set_power_limit(1, 2000);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("100 to 400 W"), std::string::npos);
}

TEST_F(NvmlTest, MigSlicesAreDevices) {
  change([](SimHeader&, std::span<SimRecord> records) { records[1].mig_slices = 3; });
  const auto devices = open();
  ASSERT_EQ(devices->list().size(), 6U);
  EXPECT_EQ(devices->list()[1].spec.name, "1:0");
  EXPECT_EQ(devices->list()[3].spec.name, "1:2");
  EXPECT_EQ(devices->list()[4].spec.name, "2");
  EXPECT_EQ(devices->list()[2].spec.memory, gibibytes(8));
  EXPECT_TRUE(devices->list()[2].visible.starts_with("MIG-"));
  Child job([&] { return simulate(path_, {2}, holding(gibibytes(5))); });
  ASSERT_NE(job.read_line(), "");
  const auto samples = devices->sample();
  EXPECT_EQ(samples[2].used, gibibytes(5));
  ASSERT_EQ(samples[2].processes.size(), 1U);
  EXPECT_TRUE(samples[1].processes.empty());
  EXPECT_FALSE(samples[2].utilization.has_value());
  EXPECT_EQ(samples[1].power, 200.0) << "slices share the power of their GPU";
}

std::vector<int> islands(const Devices& devices) {
  std::vector<int> islands;
  for (const DeviceInfo& device : devices.list()) {
    islands.push_back(device.spec.locality.island);
  }
  return islands;
}

TEST_F(NvmlTest, IslandsFollowNvlinkElsePcie) {
  change([](SimHeader&, std::span<SimRecord> records) {
    records[0].island = records[2].island = 5;
    records[1].island = records[3].island = 7;
    records[3].numa = 1;
  });
  EXPECT_EQ(islands(*open()), (std::vector{0, 1, 0, 1}));
  EXPECT_EQ(islands(*open("fake_nvml_old")), (std::vector{0, 0, 0, 1})) << "by PCIe switch";
  EXPECT_EQ(islands(*open("fake_nvml_bare")), (std::vector{0, 1, 2, 3}));
}

TEST_F(NvmlTest, KeepsWhatWasChosenInThatOrder) {
  const auto devices = open();
  devices->keep(std::vector<std::size_t>{3, 1, 3});
  change([](SimHeader&, std::span<SimRecord> records) { records[3].foreign = 77; });
  ASSERT_EQ(devices->list().size(), 3U);
  EXPECT_EQ(devices->list()[0].spec.name, "3");
  EXPECT_EQ(devices->list()[1].spec.name, "1");
  const auto samples = devices->sample();
  EXPECT_EQ(samples[0].used, Bytes{77});
  EXPECT_EQ(samples[1].used, Bytes{});
  EXPECT_EQ(samples[2].used, Bytes{77});
}

TEST_F(NvmlTest, NoLibraryAndNoDriverAreErrors) {
  EXPECT_EQ(open_nvml(folder_.path() + "/none.so", "/sys").error().code, ErrorCode::Unavailable);
  const ScopedVariable nothing("BERTH_SIM_STATE", nullptr);
  const auto devices = open_nvml(BERTH_BUILD_DIR "/fake_nvml/libnvidia-ml.so.1", "/sys");
  ASSERT_FALSE(devices.has_value());
  EXPECT_NE(devices.error().message.find("driver is not loaded"), std::string::npos);
}

}  // namespace
}  // namespace berth
