// Simulated devices: the state file, jobs on it, and what is left when they die.
#include <gtest/gtest.h>

#include <fstream>

#include "base/process_facts.h"
#include "base/small_files.h"
#include "fixture.h"
#include "gpu/simulated/sim_devices.h"

namespace berth {
namespace {

class SimTest : public ::testing::Test {
 protected:
  std::unique_ptr<Devices> open(const std::string& gpus) {
    auto devices = open_devices(gpus);
    EXPECT_TRUE(devices.has_value()) << (devices ? "" : devices.error().message);
    return std::move(*devices);
  }
  void set(std::size_t index, const std::function<void(SimRecord&)>& change) {
    auto state = SimState::open(path_);
    ASSERT_TRUE(state.has_value()) << state.error().message;
    (*state)->locked([&](SimHeader&, std::span<SimRecord> records) { change(records[index]); });
  }

  TempFolder folder_;
  std::string path_ = folder_.path() + "/devices";
  ScopedVariable home_{"BERTH_HOME", folder_.path().c_str()};
  ScopedVariable named_{"BERTH_SIM_STATE", path_.c_str()};
};

TEST_F(SimTest, ListsWhatTheSpecSays) {
  const auto devices = open("sim:6x8GiB");
  ASSERT_EQ(devices->list().size(), 6U);
  const DeviceInfo& last = devices->list().back();
  EXPECT_EQ(last.spec.name, "5");
  EXPECT_EQ(last.spec.memory, gibibytes(8));
  EXPECT_EQ(last.spec.locality.island, 1);
  EXPECT_EQ(last.visible, last.spec.uuid);
  EXPECT_TRUE(last.spec.uuid.starts_with("GPU-"));
  EXPECT_EQ(last.spec.uuid.size(), 40U);
  EXPECT_NE(last.spec.uuid, devices->list().front().spec.uuid);
  EXPECT_EQ(open("sim:6x8GiB")->list().back().spec.uuid, last.spec.uuid);
  ASSERT_EQ(devices->extra_environment().size(), 1U);
  EXPECT_EQ(devices->extra_environment()[0].second, path_);
}

TEST_F(SimTest, SpecAndHomeNameTheFile) {
  const ScopedVariable unnamed("BERTH_SIM_STATE", nullptr);
  const std::string first = open("sim:2")->extra_environment()[0].second;
  EXPECT_TRUE(first.starts_with(folder_.path() + "/sim/")) << first;
  EXPECT_EQ(open("sim:2x24GiB")->extra_environment()[0].second, first);
  EXPECT_NE(open("sim:2x8GiB")->extra_environment()[0].second, first);
}

TEST_F(SimTest, WrongSpecsSayWhatToWrite) {
  for (const char* gpus : {"sim:", "sim:0", "sim:-1", "sim:1025", "sim:9999999", "sim:4x", "sim:x8",
                           "sim:4x8XiB", "sim:4x0", "sim:99999999999999999999", "sim:4 0"}) {
    const auto devices = open_devices(gpus);
    ASSERT_FALSE(devices.has_value()) << gpus;
    EXPECT_EQ(devices.error().code, ErrorCode::Usage) << gpus;
  }
}

TEST_F(SimTest, NeverOverwritesAFileOfAnotherKind) {
  folder_.write("devices", "my thesis");
  EXPECT_FALSE(open_devices("sim:2").has_value());
  EXPECT_EQ(read_small_file(path_), "my thesis");
}

TEST_F(SimTest, CompletesAFileWhoseWriterWasKilled) {
  open("sim:2");
  const auto size = std::filesystem::file_size(path_);
  folder_.write("devices", std::string(size, '\0'));
  EXPECT_EQ(open("sim:2")->list().back().spec.memory, gibibytes(24));
}

TEST_F(SimTest, AnotherCountThanTheFileHasIsAnError) {
  open("sim:2");
  const auto devices = open_devices("sim:3");
  ASSERT_FALSE(devices.has_value());
  EXPECT_NE(devices.error().message.find("sim:2"), std::string::npos) << devices.error().message;
}

TEST_F(SimTest, AJobIsSeenWhileItRunsAndGoneAfter) {
  const auto devices = open("sim:2");
  SimJobPlan plan = holding(gibibytes(6));
  plan.utilization = 80;
  plan.watts = 250;
  Child job([&] { return simulate(path_, {1}, plan); });
  ASSERT_NE(job.read_line(), "");
  DeviceSample sample = devices->sample()[1];
  EXPECT_EQ(sample.used, gibibytes(6));
  EXPECT_EQ(sample.utilization, 80);
  EXPECT_EQ(sample.power, 250.0);
  ASSERT_EQ(sample.processes.size(), 1U);
  EXPECT_EQ(sample.processes[0].pid, job.pid());
  EXPECT_EQ(devices->sample()[0].used, Bytes{});

  job.signal(SIGTERM);
  const int status = job.wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_EQ(devices->sample()[1].used, Bytes{});
}

TEST_F(SimTest, AKilledJobLeavesNothing) {
  const auto devices = open("sim:1");
  Child job([&] { return simulate(path_, {0}, holding(gibibytes(6))); });
  ASSERT_NE(job.read_line(), "");
  job.signal(SIGKILL);
  // Dead but not waited for: a zombie holds no memory either.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(job.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(devices->sample()[0].used, Bytes{});
  EXPECT_TRUE(devices->sample()[0].processes.empty());
}

TEST_F(SimTest, APidThatWasUsedAgainDoesNotCount) {
  const auto devices = open("sim:1");
  set(0, [](SimRecord& record) {
    const auto self = read_proc_stat(::getpid());
    record.processes[0] = {::getpid(), -1, 0, self->start, 100, 0, 0};
    record.processes[1] = {::getpid(), -1, 0, self->start + 1, 1000, 0, 0};
  });
  EXPECT_EQ(devices->sample()[0].used, Bytes{100});
}

TEST_F(SimTest, RunsOutOfMemoryOnlyBeyondTheLastByte) {
  const auto devices = open("sim:1x8GiB");
  set(0, [](SimRecord& record) { record.foreign = gibibytes(5).count; });
  const auto run = [&](Bytes memory) {
    SimJobPlan plan;
    plan.memory = memory;
    plan.hold = Duration::zero();
    return Child([&] { return simulate(path_, {0}, plan); }).wait();
  };
  EXPECT_EQ(run(gibibytes(3)), 0);
  EXPECT_EQ(WEXITSTATUS(run(gibibytes(3) + Bytes{1})), 1);
  EXPECT_EQ(devices->sample()[0].used, gibibytes(5));
}

TEST_F(SimTest, EnergyIsPowerOverTime) {
  const auto devices = open("sim:1");
  set(0, [](SimRecord& record) {
    record.joules = 0;
    record.joules_at -= 10'000'000'000;
  });
  const double joules = devices->sample()[0].energy.value();
  EXPECT_GE(joules, 250.0);  // 25 W for ten seconds
  EXPECT_LT(joules, 500.0);
}

TEST_F(SimTest, FaultsShow) {
  const auto devices = open("sim:3");
  set(0, [](SimRecord& record) { record.lost = 1; });
  set(1, [](SimRecord& record) {
    record.last_xid = 79;
    ++record.xid_count;
  });
  set(2, [](SimRecord& record) { record.unsupported = kSimPower | kSimUtilization; });
  auto samples = devices->sample();
  EXPECT_TRUE(samples[0].lost);
  EXPECT_FALSE(samples[0].used.has_value());
  EXPECT_EQ(samples[1].last_xid, 79U);
  EXPECT_FALSE(samples[2].power.has_value());
  EXPECT_FALSE(samples[2].utilization.has_value());
  EXPECT_TRUE(samples[2].energy.has_value());
  EXPECT_FALSE(devices->sample()[1].last_xid.has_value()) << "an error is told once";
}

TEST_F(SimTest, PowerLimitsHoldAndAreChecked) {
  const auto devices = open("sim:1");
  EXPECT_TRUE(devices->set_power_limit(0, 150).has_value());
  EXPECT_FALSE(devices->set_power_limit(0, 50).has_value());
  Child job([&] { return simulate(path_, {0}, holding(gibibytes(1))); });
  ASSERT_NE(job.read_line(), "");
  EXPECT_EQ(devices->sample()[0].power, 150.0);
  EXPECT_EQ(devices->sample()[0].power_limit, 150.0);
}

TEST_F(SimTest, SlicesAreDevices) {
  open("sim:2");
  set(0, [](SimRecord& record) { record.mig_slices = 3; });
  const auto devices = open("sim:2");
  ASSERT_EQ(devices->list().size(), 4U);
  EXPECT_EQ(devices->list()[1].spec.name, "0:1");
  EXPECT_EQ(devices->list()[1].spec.memory, gibibytes(8));
  Child job([&] { return simulate(path_, {1}, holding(gibibytes(2))); });
  ASSERT_NE(job.read_line(), "");
  const auto samples = devices->sample();
  EXPECT_EQ(samples[0].used, Bytes{});
  EXPECT_EQ(samples[1].used, gibibytes(2));
}

}  // namespace
}  // namespace berth
