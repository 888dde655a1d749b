// ProcessWatch: tells a recording which processes hold memory on which devices, as the driver lists
// them, with their commands as /proc has them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.h"
#include "record/recording.h"

namespace berth {

class ProcessWatch {
 public:
  /// `proc` is the root; tests use another one.
  explicit ProcessWatch(Recording& recording, std::string proc = "/proc")
      : recording_(recording), proc_(std::move(proc)) {}

  void sampled(const std::vector<DeviceSample>& samples, Time at);

 private:
  struct Process {
    std::uint64_t key = 0;  // tells a process from a later one with the same pid
    std::string name;
  };
  Process look(pid_t pid) const;

  Recording& recording_;
  std::string proc_;
  std::map<std::pair<std::size_t, pid_t>, Process> present_;  // by device
};

}  // namespace berth
