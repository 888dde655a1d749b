// Devices: one interface over NVIDIA (NVML by dlopen), AMD (sysfs), simulated devices, and ids
// taken on trust. list() and extra_environment() are cheap and may be called anywhere; sample() may
// block in a driver for milliseconds and belongs on the sampler's thread, never on the scheduling
// path.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/device.h"

namespace berth {

/// Which family of environment variables makes a device visible to a job.
enum class DeviceFamily { Nvidia, Amd, Simulated, Trusted };

struct DeviceInfo {
  DeviceSpec spec;
  DeviceFamily family = DeviceFamily::Trusted;
  std::string visible;  // this device's word in CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES
  std::string pci_bus;  // "0000:3b:00.0"; empty where unknown
  std::string realm;    // where its name means this device: one state file's; empty: the machine
};

struct ProcessUse {
  pid_t pid = 0;
  Bytes memory;
};

/// One reading of one device. A field the driver does not support is absent, not zero.
struct DeviceSample {
  bool lost = false;
  std::optional<Bytes> used;          // by anyone, the driver's own reserve not counted
  std::optional<int> utilization;     // percent
  std::optional<double> power;        // watts
  std::optional<double> power_limit;  // watts
  std::optional<double> energy;       // joules since the driver was loaded
  std::optional<int> temperature;     // degrees Celsius
  std::optional<unsigned> last_xid;   // the newest XID error reported since the reading before
  std::vector<ProcessUse> processes;  // those that hold memory here, as far as the driver says
};

class Devices {
 public:
  virtual ~Devices() = default;

  virtual const std::vector<DeviceInfo>& list() const = 0;

  /// One sample per entry of list(), in its order.
  virtual std::vector<DeviceSample> sample() = 0;

  virtual Result<void> set_power_limit(std::size_t index, double watts) = 0;

  /// Variables every job on these devices needs beside the visibility ones (the simulated
  /// devices' state file, for instance).
  virtual std::vector<std::pair<std::string, std::string>> extra_environment() const { return {}; }
};

/// The variables that show exactly these devices to a job; one without a value is to be unset. No
/// devices at all: the variables of all families are there and empty, which hides every device.
std::map<std::string, std::optional<std::string>> visibility(std::span<const DeviceInfo> leased);

/// Before ids that no driver shows.
inline constexpr std::string_view kTrust = "trust:";

/// What becomes of ids where no driver is there to know them.
enum class Unseen : std::uint8_t { Trust, Refuse };

/// Devices named as `--gpus` does. `auto`: what the drivers show and an inherited visibility mask
/// leaves; `all`: also what the mask hides. `0,1,2` or `0 1 2`, names, UUIDs or unique beginnings
/// of them: an error where a driver is present that does not know one, else taken on trust; one
/// that comes twice is two slots. `sim:4`, `sim:4x24GiB`: simulated devices.
/// `trust:0,1` says that ids are to be taken on trust; with Unseen::Refuse nothing else does.
Result<std::unique_ptr<Devices>> open_devices(std::string_view gpus, Unseen unseen = Unseen::Trust);

}  // namespace berth
