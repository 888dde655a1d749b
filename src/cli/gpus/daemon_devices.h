// What a running daemon says of its devices, beyond what their drivers tell everybody.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace berth {

struct DaemonDevice {
  std::string health;  // ok, drained, lost or removed
  std::vector<std::uint64_t> jobs;
  std::string obstacle;  // why the daemon cannot lease it now: another berth has it, say
};

struct DaemonDevices {
  std::vector<std::string> sources;             // `--gpus` texts that together name the devices
  std::map<std::string, DaemonDevice> devices;  // by name, without those that it was told to forget
};

/// Nothing where no daemon runs; none is started.
std::optional<DaemonDevices> ask_daemon_devices();

}  // namespace berth
