// What a running daemon reports about its devices, beyond what their drivers show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace berth {

struct DaemonDevice {
  std::string health;  // ok, drained, lost or removed
  std::vector<std::uint64_t> job_ids;
  std::vector<std::string> jobs;  // "12 train", with the user where that is somebody else
  std::string obstacle;  // why the daemon cannot lease it now, e.g. another berth instance has it
};

struct DaemonDevices {
  std::vector<std::string> sources;             // `--gpus` texts that together name the devices
  std::map<std::string, DaemonDevice> devices;  // by name; removed ones only while jobs run on them
};

/// Nothing if no daemon runs. Does not start one.
std::optional<DaemonDevices> ask_daemon_devices();

}  // namespace berth
