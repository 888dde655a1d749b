#include "gpu/simulated/sim_devices.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/paths.h"

namespace berth {
namespace {

constexpr std::string_view kPrefix = "sim:";
constexpr Bytes kDefaultMemory = gibibytes(24);
constexpr Bytes kLeastMemory = mebibytes(1);
constexpr Bytes kMostMemory = gibibytes(1 << 20);

Result<SimShape> parse_shape(std::string_view gpus) {
  const std::string_view text = gpus.substr(kPrefix.size());
  const std::size_t cross = text.find('x');
  const Result<std::int64_t> count = parse_integer(text.substr(0, cross), "N in sim:N");
  if (!count || *count < 1 || *count > kSimMostDevices) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' must name 1 to {} simulated devices: write sim:4 or sim:4x24GiB",
                            gpus, kSimMostDevices));
  }
  SimShape shape{static_cast<std::uint32_t>(*count), kDefaultMemory};
  if (cross != text.npos) {
    const Result<Bytes> memory = parse_bytes(text.substr(cross + 1));
    if (!memory) {
      return fail(ErrorCode::Usage, fmt::format("'{}': {}", gpus, memory.error().message));
    }
    if (*memory < kLeastMemory || *memory > kMostMemory) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}': a simulated device has {} to {} of memory", gpus,
                              format_bytes(kLeastMemory), format_bytes(kMostMemory)));
    }
    shape.memory = *memory;
  }
  return shape;
}

/// What BERTH_SIM_STATE names; empty where it does not.
std::string named_path() {
  const char* named = std::getenv("BERTH_SIM_STATE");
  if (named == nullptr || *named == '\0') {
    return "";
  }
  // Absolute, because jobs get this path and run in other folders.
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(named, error);
  return error ? std::string(named) : path.lexically_normal().string();
}

Result<std::string> state_path(SimShape shape) {
  if (std::string named = named_path(); !named.empty()) {
    return named;
  }
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  return fmt::format("{}/sim/{}x{}.state", paths->state, shape.count, shape.memory.count);
}

class SimulatedDevices final : public Devices {
 public:
  explicit SimulatedDevices(std::unique_ptr<SimState> state) : state_(std::move(state)) {
    parts_ = list_sim_parts(*state_);
    struct stat file {};
    (void)::stat(state_->path().c_str(), &file);
    for (const SimPart& part : parts_) {
      list_.push_back(part.info);
      list_.back().realm = fmt::format("sim-{:x}-{:x}", file.st_dev, file.st_ino);
    }
    state_->locked([&](const SimHeader&, std::span<const SimRecord> records) {
      for (const SimRecord& record : records) {
        xids_seen_.push_back(record.xid_count);
      }
    });
  }

  const std::vector<DeviceInfo>& list() const override { return list_; }

  std::vector<DeviceSample> sample() override {
    return state_->locked([&](const SimHeader&, std::span<const SimRecord> records) {
      std::vector<DeviceSample> samples;
      samples.reserve(parts_.size());
      for (const SimPart& part : parts_) {
        samples.push_back(read(records[part.record], part));
      }
      for (std::size_t i = 0; i < records.size(); ++i) {
        xids_seen_[i] = records[i].xid_count;
      }
      return samples;
    });
  }

  Result<void> set_power_limit(std::size_t index, double watts) override {
    const SimPart& part = parts_.at(index);
    return state_->locked([&](SimHeader&, std::span<SimRecord> records) -> Result<void> {
      SimRecord& record = records[part.record];
      const double milliwatts = watts * 1000;
      if (milliwatts < record.least_limit_milliwatts || milliwatts > record.most_limit_milliwatts) {
        return fail(ErrorCode::Usage,
                    fmt::format("the power limit of device {} is {} to {} W, not {:.0f} W",
                                part.info.spec.name, record.least_limit_milliwatts / 1000,
                                record.most_limit_milliwatts / 1000, watts));
      }
      record.limit_milliwatts = static_cast<std::int32_t>(milliwatts);
      return {};
    });
  }

  std::vector<std::pair<std::string, std::string>> extra_environment() const override {
    return {{"BERTH_SIM_STATE", state_->path()}};
  }

 private:
  DeviceSample read(const SimRecord& record, const SimPart& part) const {
    DeviceSample sample;
    if (record.lost != 0) {
      sample.lost = true;
      return sample;
    }
    const auto known = [&](SimFields field) { return (record.unsupported & field) == 0; };
    if (known(kSimMemory)) {
      sample.used = sim_used(record, part.slice);
    }
    if (known(kSimUtilization) && part.slice < 0) {
      sample.utilization = sim_utilization(record);
      // As busy as the device, for the part of it that is used.
      const Bytes memory = sim_memory(record, part.slice);
      sample.memory_busy = memory == Bytes{}
                               ? 0
                               : static_cast<int>(sim_used(record, part.slice).count / 1024 *
                                                  *sample.utilization / (memory.count / 1024));
    }
    if (known(kSimPower)) {
      sample.power = sim_milliwatts(record) / 1000.0;
    }
    if (known(kSimPowerLimit)) {
      sample.power_limit = record.limit_milliwatts / 1000.0;
    }
    if (known(kSimEnergy)) {
      sample.energy = record.joules;
    }
    if (known(kSimTemperature)) {
      sample.temperature = sim_temperature(record);
    }
    if (record.xid_count != xids_seen_[part.record]) {
      sample.last_xid = record.last_xid;
    }
    for (const SimProcess& process : record.processes) {
      if (process.pid != 0 && known(kSimProcesses) &&
          (part.slice < 0 || process.slice == part.slice)) {
        sample.processes.push_back({process.pid, Bytes{process.memory}});
      }
    }
    return sample;
  }

  std::unique_ptr<SimState> state_;
  std::vector<SimPart> parts_;
  std::vector<DeviceInfo> list_;
  std::vector<std::uint32_t> xids_seen_;  // per record
};

}  // namespace

bool is_sim_spec(std::string_view gpus) { return gpus.starts_with(kPrefix); }

Result<std::unique_ptr<SimState>> open_sim_state(std::string_view gpus) {
  if (gpus.empty()) {
    const std::string path = named_path();
    return path.empty() ? fail(ErrorCode::Usage,
                               "no simulated devices: run it as a job with --gpus sim:4, or say "
                               "--gpus sim:4 here")
                        : SimState::open(path);
  }
  if (!is_sim_spec(gpus)) {
    return fail(ErrorCode::Usage, fmt::format("--gpus must be sim:N[xSIZE], not '{}'", gpus));
  }
  const Result<SimShape> shape = parse_shape(gpus);
  if (!shape) {
    return Failure(shape.error());
  }
  const Result<std::string> path = state_path(*shape);
  if (!path) {
    return Failure(path.error());
  }
  return SimState::open_or_create(*path, *shape);
}

std::vector<SimPart> list_sim_parts(SimState& state) {
  return state.locked([](const SimHeader&, std::span<const SimRecord> records) {
    std::vector<SimPart> parts;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const SimRecord& record = records[i];
      SimPart part;
      part.info.family = DeviceFamily::Simulated;
      part.info.spec.name = fmt::format("{}", i);
      part.info.spec.model = sim_text(record.model);
      part.info.spec.locality = {.node = 0, .numa = record.numa, .island = record.island};
      part.info.pci_bus = sim_text(record.pci_bus);
      part.record = i;
      const int slices = static_cast<int>(record.mig_slices);
      for (int slice = slices > 0 ? 0 : -1; slice < slices; ++slice) {
        SimPart& added = parts.emplace_back(part);
        added.slice = slice;
        added.info.spec.memory = sim_memory(record, slice);
        added.info.spec.uuid = sim_text(record.uuid);
        if (slice >= 0) {
          added.info.spec.name += fmt::format(":{}", slice);
          added.info.spec.uuid = sim_slice_uuid(record, slice);
        }
        added.info.visible = added.info.spec.uuid;
      }
    }
    return parts;
  });
}

Result<std::unique_ptr<Devices>> open_simulated(std::string_view gpus) {
  Result<std::unique_ptr<SimState>> state = open_sim_state(gpus);
  if (!state) {
    return Failure(state.error());
  }
  return std::make_unique<SimulatedDevices>(std::move(*state));
}

}  // namespace berth
