#include "gpu/nvml/nvml_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/nvml/nvml_library.h"
#include "gpu/nvml/nvml_processes.h"
#include "gpu/nvml/nvml_topology.h"
#include "gpu/pci.h"

namespace berth {
namespace {

/// What is behind one entry of the list.
struct Unit {
  nvml::Device device = nullptr;  // the GPU or the MIG slice; null where the driver gave none
  nvml::Device gpu = nullptr;     // the GPU, which has the power and the errors of its slices
};

/// The answers of one device, with an eye on whether it is still there.
class Reader {
 public:
  bool took(int code) {
    lost_ = lost_ || code == nvml::kGpuLost;
    return code == nvml::kSuccess;
  }
  bool lost() const { return lost_; }

 private:
  bool lost_ = false;
};

using TextCall = NvmlFunctions::OfDevice<char*, unsigned>;

std::string read_text(const TextCall& call, nvml::Device device) {
  std::array<char, nvml::kTextSize> text{};
  const auto room = static_cast<unsigned>(text.size() - 1);
  return call(device, text.data(), room) == nvml::kSuccess ? text.data() : "";
}

std::optional<nvml::Memory> read_memory(const NvmlFunctions& nvml, nvml::Device device,
                                        Reader& reader) {
  nvml::MemoryV2 newer{};
  newer.version = nvml::versioned(sizeof(newer), 2);
  if (reader.took(nvml.memory_v2(device, &newer))) {
    return nvml::Memory{newer.total, newer.free, newer.used};
  }
  nvml::Memory older{};
  if (reader.took(nvml.memory(device, &older))) {
    return older;
  }
  return std::nullopt;
}

class NvmlDevices final : public DriverDevices {
 public:
  NvmlDevices(std::unique_ptr<NvmlLibrary> nvml, const std::string& sysfs)
      : nvml_(std::move(nvml)) {
    std::vector<NvmlNode> nodes = find_gpus();
    const std::vector<std::uint16_t> islands = find_nvml_islands(nvml_->call(), nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      DeviceInfo gpu;
      gpu.family = DeviceFamily::Nvidia;
      gpu.pci_bus = nodes[i].pci_bus;
      gpu.spec.name = fmt::format("{}", i);
      gpu.spec.model = read_text(nvml_->call().name, nodes[i].device);
      gpu.spec.locality = {
          .node = 0, .numa = numa_of_pci(sysfs, gpu.pci_bus), .island = islands[i]};
      add_gpu(gpu, nodes[i].device);
    }
    watch_errors(nodes);
  }
  ~NvmlDevices() override {
    if (events_ != nullptr) {
      (void)nvml_->call().event_set_free(events_);
    }
  }

  const std::vector<DeviceInfo>& list() const override { return list_; }

  void keep(std::span<const std::size_t> chosen) override {
    list_ = gather(list_, chosen);
    units_ = gather(units_, chosen);
  }

  std::vector<DeviceSample> sample() override {
    std::vector<DeviceSample> samples;
    samples.reserve(units_.size());
    for (const Unit& unit : units_) {
      samples.push_back(read(unit));
    }
    read_errors(samples);
    return samples;
  }

  Result<void> set_power_limit(std::size_t index, double watts) override {
    const Unit& unit = units_.at(index);
    const std::string& name = list_.at(index).spec.name;
    unsigned least = 0;
    unsigned most = 0;
    if (nvml_->call().power_limit_range(unit.gpu, &least, &most) == nvml::kSuccess &&
        (watts * 1000 < least || watts * 1000 > most)) {
      return fail(ErrorCode::Usage,
                  fmt::format("the power limit of device {} is {} to {} W, not {:.0f} W", name,
                              least / 1000, most / 1000, watts));
    }
    const auto milliwatts = static_cast<unsigned>(std::lround(watts * 1000));
    if (const int code = nvml_->call().set_power_limit(unit.gpu, milliwatts);
        code != nvml::kSuccess) {
      return fail(ErrorCode::Refused, fmt::format("cannot set the power limit of device {}: {}",
                                                  name, nvml_->error_text(code)));
    }
    return {};
  }

 private:
  std::vector<NvmlNode> find_gpus() const {
    unsigned count = 0;
    (void)nvml_->call().count(&count);
    std::vector<NvmlNode> nodes(count);
    for (unsigned i = 0; i < count; ++i) {
      // One that cannot be had keeps its place: the numbers of the others must not move.
      (void)nvml_->call().by_index(i, &nodes[i].device);
      nvml::PciInfo pci{};
      if (nodes[i].device != nullptr &&
          nvml_->call().pci(nodes[i].device, &pci) == nvml::kSuccess) {
        pci.bus_id.back() = '\0';
        nodes[i].pci_bus = normal_pci_bus(pci.bus_id.data());
      }
    }
    return nodes;
  }

  /// Adds the GPU, or the slices of one that is split.
  void add_gpu(const DeviceInfo& gpu, nvml::Device device) {
    unsigned mode = 0;
    unsigned pending = 0;
    unsigned most = 0;
    const bool split = nvml_->call().mig_mode(device, &mode, &pending) == nvml::kSuccess &&
                       mode == nvml::kMigEnabled &&
                       nvml_->call().most_mig_devices(device, &most) == nvml::kSuccess;
    if (!split) {
      add(gpu, {device, device});
      return;
    }
    unsigned number = 0;
    for (unsigned place = 0; place < most; ++place) {
      nvml::Device slice = nullptr;
      if (nvml_->call().mig_device(device, place, &slice) == nvml::kSuccess && slice != nullptr) {
        DeviceInfo info = gpu;
        info.spec.name += fmt::format(":{}", number++);
        add(std::move(info), {slice, device});
      }
    }
  }

  void add(DeviceInfo info, const Unit& unit) {
    Reader reader;
    nvml::Attributes attributes{};
    info.spec.uuid = read_text(nvml_->call().uuid, unit.device);
    info.visible = info.spec.uuid.empty() ? info.spec.name : info.spec.uuid;
    if (const auto memory = read_memory(nvml_->call(), unit.device, reader)) {
      info.spec.memory = Bytes{static_cast<std::int64_t>(memory->total)};
    } else if (nvml_->call().attributes(unit.device, &attributes) == nvml::kSuccess) {
      info.spec.memory = mebibytes(static_cast<std::int64_t>(attributes.memory_mebibytes));
    }
    list_.push_back(std::move(info));
    units_.push_back(unit);
  }

  void watch_errors(std::span<const NvmlNode> nodes) {
    if (nvml_->call().event_set_create(&events_) != nvml::kSuccess) {
      events_ = nullptr;
      return;
    }
    for (const NvmlNode& node : nodes) {
      (void)nvml_->call().register_events(node.device, nvml::kEventXid, events_);
    }
  }

  DeviceSample read(const Unit& unit) const {
    DeviceSample sample;
    Reader reader;
    if (const auto memory = read_memory(nvml_->call(), unit.device, reader)) {
      sample.used = Bytes{static_cast<std::int64_t>(memory->used)};
    }
    if (nvml::Utilization rates{}; reader.took(nvml_->call().utilization(unit.device, &rates))) {
      sample.utilization = static_cast<int>(rates.gpu);
      sample.memory_busy = static_cast<int>(rates.memory);
    }
    unsigned number = 0;
    if (reader.took(nvml_->call().power(unit.gpu, &number))) {
      sample.power = number / 1000.0;
    }
    if (reader.took(nvml_->call().power_limit(unit.gpu, &number))) {
      sample.power_limit = number / 1000.0;
    }
    if (unsigned long long total = 0; reader.took(nvml_->call().energy(unit.gpu, &total))) {
      sample.energy = static_cast<double>(total) / 1000.0;
    }
    if (reader.took(nvml_->call().temperature(unit.gpu, nvml::kTemperatureGpu, &number))) {
      sample.temperature = static_cast<int>(number);
    }
    int code = nvml::kSuccess;
    sample.processes = read_nvml_processes(*nvml_, unit.device, code);
    (void)reader.took(code);
    if (reader.lost() || unit.device == nullptr) {
      sample = {};
      sample.lost = true;
    }
    return sample;
  }

  /// Takes the errors that have come since the last time, without waiting for more.
  void read_errors(std::vector<DeviceSample>& samples) {
    constexpr int kMostAtOnce = 256;
    nvml::EventData event{};
    for (int i = 0; i < kMostAtOnce && events_ != nullptr &&
                    nvml_->call().event_set_wait(events_, &event, 0) == nvml::kSuccess;
         ++i) {
      for (std::size_t unit = 0; unit < units_.size(); ++unit) {
        if (event.type == nvml::kEventXid && units_[unit].gpu == event.device) {
          samples[unit].last_xid = static_cast<unsigned>(event.data);
        }
      }
    }
  }

  std::unique_ptr<NvmlLibrary> nvml_;
  std::vector<DeviceInfo> list_;
  std::vector<Unit> units_;  // one per entry of list_
  nvml::EventSet events_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<DriverDevices>> open_nvml(const std::string& library,
                                                 const std::string& sysfs) {
  Result<std::unique_ptr<NvmlLibrary>> nvml = NvmlLibrary::open(library);
  if (!nvml) {
    return Failure(nvml.error());
  }
  return std::make_unique<NvmlDevices>(std::move(*nvml), sysfs);
}

}  // namespace berth
