// The internals of the fake driver: handles, and how a call reaches its device's record.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "gpu/nvml/nvml_abi.h"
#include "gpu/simulated/sim_state.h"

namespace berth::nvml {

struct OpaqueDevice {
  std::size_t record = 0;
  int slice = -1;
};

struct OpaqueEventSet {
  struct Watch {
    Device device;
    std::uint32_t seen;  // the record's xid_count that was already reported
  };
  std::vector<Watch> watches;
};

/// The state that nvmlInit_v2 opens and nvmlShutdown closes.
struct Driver {
  std::unique_ptr<SimState> state;
  std::deque<OpaqueDevice> devices;  // handles, which must not move
  std::deque<OpaqueEventSet> event_sets;
};

/// Null before nvmlInit_v2. Calls of one process take turns, as NVML's do.
inline std::unique_ptr<Driver> driver;
inline std::mutex driver_mutex;

/// The one handle of a device or slice.
inline Device handle_of(std::size_t record, int slice) {
  for (OpaqueDevice& known : driver->devices) {
    if (known.record == record && known.slice == slice) {
      return &known;
    }
  }
  return &driver->devices.emplace_back(OpaqueDevice{record, slice});
}

/// body(SimHeader&, std::span<SimRecord>) → code, called only if the driver is initialized.
template <class Body>
int with_driver(Body body) {
  const std::lock_guard guard(driver_mutex);
  return driver == nullptr ? kUninitialized : driver->state->locked(body);
}

/// body(SimRecord&) → code, called only if the device is present and supports `field` (0: no
/// check).
template <class Body>
int with_device(Device device, std::uint32_t field, Body body) {
  return with_driver([&](SimHeader&, std::span<SimRecord> records) -> int {
    if (device == nullptr) {
      return kInvalidArgument;
    }
    SimRecord& record = records[device->record];
    if (record.lost != 0) {
      return kGpuLost;
    }
    return (record.unsupported & field) != 0 ? kNotSupported : body(record);
  });
}

inline int put_text(std::string_view text, char* out, unsigned room) {
  if (text.size() + 1 > room) {
    return kInsufficientSize;
  }
  out[text.copy(out, text.size())] = '\0';
  return kSuccess;
}

/// The format of NVML: eight digits of domain, capitals.
inline void put_pci(const SimRecord& record, PciInfo& out) {
  out = {};
  std::string text = "0000" + std::string(sim_text(record.pci_bus));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  text.copy(out.bus_id.data(), out.bus_id.size() - 1);
  sim_text(record.pci_bus).copy(out.bus_id_legacy.data(), out.bus_id_legacy.size() - 1);
}

}  // namespace berth::nvml
