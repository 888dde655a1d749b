// A driver library made of simulated devices: the readings.
#include "fake_nvml.h"

#include <cstdlib>

using namespace berth;        // NOLINT: this file is one long list of C functions
using namespace berth::nvml;  // NOLINT

namespace {

/// What a driver keeps for itself: the older memory call counts it as used, the newer one apart.
constexpr std::uint64_t kReserved = std::uint64_t{512} << 20;

std::uint64_t unsigned_of(Bytes size) { return static_cast<std::uint64_t>(size.count); }

std::uint64_t free_of(std::uint64_t total, std::uint64_t taken) {
  return total > taken ? total - taken : 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const std::lock_guard guard(driver_mutex);
  const char* path = std::getenv("BERTH_SIM_STATE");
  Result<std::unique_ptr<SimState>> state = SimState::open(path != nullptr ? path : "");
  if (!state) {
    return kDriverNotLoaded;
  }
  driver = std::make_unique<Driver>();
  driver->state = std::move(*state);
  return kSuccess;
}

int nvmlShutdown() {
  const std::lock_guard guard(driver_mutex);
  driver.reset();
  return kSuccess;
}

const char* nvmlErrorString(int code) { return code == kSuccess ? "Success" : "Fake error"; }

int nvmlSystemGetDriverVersion(char* version, unsigned room) {
  return with_driver([&](const SimHeader& header, std::span<SimRecord>) {
    return put_text(sim_text(header.driver), version, room);
  });
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  return with_driver([&](SimHeader&, std::span<SimRecord> records) -> int {
    *count = static_cast<unsigned>(records.size());
    return kSuccess;
  });
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return with_driver([&](SimHeader&, std::span<SimRecord> records) -> int {
    if (index >= records.size()) {
      return kInvalidArgument;
    }
    *device = handle_of(index, -1);
    return kSuccess;
  });
}

int nvmlDeviceGetName(Device device, char* name, unsigned room) {
  return with_device(device, 0, [&](const SimRecord& record) {
    return put_text(sim_text(record.model), name, room);
  });
}

int nvmlDeviceGetUUID(Device device, char* uuid, unsigned room) {
  return with_device(device, 0, [&](const SimRecord& record) {
    return device->slice < 0 ? put_text(sim_text(record.uuid), uuid, room)
                             : put_text(sim_slice_uuid(record, device->slice), uuid, room);
  });
}

int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  return with_device(device, 0, [&](const SimRecord& record) -> int {
    put_pci(record, *pci);
    return kSuccess;
  });
}

int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return with_device(device, kSimMemory, [&](const SimRecord& record) -> int {
    memory->total = unsigned_of(sim_memory(record, device->slice));
    memory->used = unsigned_of(sim_used(record, device->slice)) + kReserved;
    memory->free = free_of(memory->total, memory->used);
    return kSuccess;
  });
}

int nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  return with_device(device, kSimMemory, [&](const SimRecord& record) -> int {
    if (memory->version != versioned(sizeof(MemoryV2), 2)) {
      return kVersionMismatch;
    }
    memory->total = unsigned_of(sim_memory(record, device->slice));
    memory->used = unsigned_of(sim_used(record, device->slice));
    memory->reserved = kReserved;
    memory->free = free_of(memory->total, memory->used + kReserved);
    return kSuccess;
  });
}

int nvmlDeviceGetUtilizationRates(Device device, Utilization* rates) {
  return with_device(device, kSimUtilization, [&](const SimRecord& record) -> int {
    if (device->slice >= 0) {
      return kNotSupported;
    }
    *rates = {static_cast<std::uint32_t>(sim_utilization(record)), 0};
    return kSuccess;
  });
}

int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return with_device(device, kSimPower, [&](const SimRecord& record) -> int {
    *milliwatts = static_cast<unsigned>(sim_milliwatts(record));
    return kSuccess;
  });
}

int nvmlDeviceGetPowerManagementLimit(Device device, unsigned* milliwatts) {
  return with_device(device, kSimPowerLimit, [&](const SimRecord& record) -> int {
    *milliwatts = static_cast<unsigned>(record.limit_milliwatts);
    return kSuccess;
  });
}

int nvmlDeviceGetPowerManagementLimitConstraints(Device device, unsigned* least, unsigned* most) {
  return with_device(device, kSimPowerLimit, [&](const SimRecord& record) -> int {
    *least = static_cast<unsigned>(record.least_limit_milliwatts);
    *most = static_cast<unsigned>(record.most_limit_milliwatts);
    return kSuccess;
  });
}

int nvmlDeviceSetPowerManagementLimit(Device device, unsigned milliwatts) {
  return with_device(device, kSimPowerLimit, [&](SimRecord& record) -> int {
    const auto limit = static_cast<std::int32_t>(milliwatts);
    if (limit < record.least_limit_milliwatts || limit > record.most_limit_milliwatts) {
      return kInvalidArgument;
    }
    record.limit_milliwatts = limit;
    return kSuccess;
  });
}

int nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  return with_device(device, kSimEnergy, [&](const SimRecord& record) -> int {
    *millijoules = static_cast<unsigned long long>(record.joules * 1000);
    return kSuccess;
  });
}

int nvmlDeviceGetTemperature(Device device, unsigned sensor, unsigned* celsius) {
  return with_device(device, kSimTemperature, [&](const SimRecord& record) -> int {
    *celsius = static_cast<unsigned>(sim_temperature(record));
    return sensor == kTemperatureGpu ? kSuccess : kInvalidArgument;
  });
}

}  // extern "C"
