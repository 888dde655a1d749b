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
  std::string realm;    // scope of its name: one state file; empty: the machine
};

struct ProcessUse {
  pid_t pid = 0;
  Bytes memory;
};

/// One reading of one device. A field the driver does not support is absent, not zero.
struct DeviceSample {
  bool lost = false;
  std::optional<Bytes> used;          // by all processes, without the driver's own reserve
  std::optional<int> utilization;     // percent
  std::optional<int> memory_busy;     // percent of the time in which memory was read or written
  std::optional<double> power;        // watts
  std::optional<double> power_limit;  // watts
  std::optional<double> energy;       // joules since the driver was loaded
  std::optional<int> temperature;     // degrees Celsius
  std::optional<unsigned> last_xid;   // the newest XID error since the previous reading
  std::vector<ProcessUse> processes;  // processes that hold memory here, as far as the driver tells
};

class Devices {
 public:
  virtual ~Devices() = default;

  virtual const std::vector<DeviceInfo>& list() const = 0;

  /// One sample per entry of list(), in its order.
  virtual std::vector<DeviceSample> sample() = 0;

  virtual Result<void> set_power_limit(std::size_t index, double watts) = 0;

  /// Variables that every job on these devices needs in addition to the visibility variables (for
  /// instance the simulated devices' state file).
  virtual std::vector<std::pair<std::string, std::string>> extra_environment() const { return {}; }
};

/// The variables that show exactly these devices to a job. A variable without a value must be
/// unset. For an empty list, the variables of all families are set and empty, which hides every
/// device.
std::map<std::string, std::optional<std::string>> visibility(std::span<const DeviceInfo> leased);

/// Stands before ids that no driver lists.
inline constexpr std::string_view kTrust = "trust:";

/// Names no devices: for jobs that need none.
inline constexpr std::string_view kNoDevices = "none";

/// What to do with ids when no driver is present to know them.
enum class Unseen : std::uint8_t { Trust, Refuse };

/// Opens the devices that the `--gpus` text names. `auto` means the devices that the drivers list,
/// without those that an inherited visibility mask hides. `all` ignores the mask. A list such as
/// `0,1,2` or `0 1 2` may hold names, UUIDs and unique beginnings of UUIDs. If a driver is present,
/// an id that it does not know is an error; without a driver, ids are taken on trust, or only
/// after `trust:` with Unseen::Refuse. An id given twice makes two slots. `sim:4` and `sim:4x24GiB`
/// are simulated devices, and `none` is an empty list. Each `cpu` beside these is a slot without a
/// device, on the processor. The error is NotFound where `auto` or `all` finds no device.
Result<std::unique_ptr<Devices>> open_devices(std::string_view gpus, Unseen unseen = Unseen::Trust);

}  // namespace berth
