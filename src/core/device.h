// What the scheduler knows about a device: the facts that a backend reported once, and the state
// that changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/units.h"

namespace berth {

/// Where a device sits, from coarse to fine. Devices that agree in finer levels are nearer to each
/// other.
struct Locality {
  std::uint16_t node = 0;    // machine; always 0 outside the simulator
  std::uint16_t numa = 0;    // memory node of the PCI slot
  std::uint16_t island = 0;  // devices joined by NVLink or XGMI share one

  friend bool operator==(const Locality&, const Locality&) = default;
};

/// The power that a device is expected to draw, in watts: without a job, and with one or several.
struct DevicePower {
  double idle = 50;
  double busy = 300;

  friend bool operator==(const DevicePower&, const DevicePower&) = default;
};

/// The fixed facts of one device (a GPU or a MIG slice).
struct DeviceSpec {
  std::string name;   // as `--gpus` and the tables name it: "0", "0:1" for a MIG slice, any word
                      // where ids are trusted
  std::string uuid;   // empty when unknown
  std::string model;  // "NVIDIA A100-SXM4-40GB"; empty when unknown
  Bytes memory;       // 0 when unknown
  Locality locality;
  DevicePower power = {};
};

/// Whether new jobs may be placed on a device.
enum class DeviceHealth : std::uint8_t {
  Ok,
  Drained,  // the user asked: running jobs stay, nothing new starts
  Lost,     // the driver no longer answers for it
  Removed,  // removed by the user: treated as absent, except for the jobs still on it
};

/// "ok", "drained", "lost" or "removed".
constexpr std::string_view health_name(DeviceHealth health) {
  switch (health) {
    case DeviceHealth::Ok:
      return "ok";
    case DeviceHealth::Drained:
      return "drained";
    case DeviceHealth::Lost:
      return "lost";
    case DeviceHealth::Removed:
      return "removed";
  }
  return "";
}

}  // namespace berth
