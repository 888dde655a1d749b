// Agent: somebody who decides in the simulator, one start after another: a network that learns, or
// a program at the other end of a pipe. What it sees is what the learned policy sees.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/ids.h"
#include "rl/features.h"

namespace berth {

/// Part of the device: 0 to 1.
struct SeenDevice {
  double use = 0;     // of its compute
  double memory = 0;  // claimed; 0 where nobody knows how much it has
  double power = 0;   // of what it draws at most
};

/// Good until the agent has answered.
struct Observation {
  Time now;
  std::span<const RankedJob> jobs;  // the first that wait, kMostCandidates at most
  std::span<const Sight> sights;    // of each
  std::span<const bool> fits;       // whether each can start now; one of them can
  const Rest* rest = nullptr;
  std::span<const SeenDevice> devices;  // empty for an agent that does not want to see them
  double cost = 0;                      // of the schedule so far, in the reward's own unit
};

struct Choice {
  static constexpr std::size_t kWait = static_cast<std::size_t>(-1);

  std::size_t job = kWait;         // one that does not fit is waited for
  std::optional<DeviceId> device;  // for a job of one device; nothing: the placement decides
};

class Agent {
 public:
  virtual ~Agent() = default;

  virtual bool sees_devices() const { return true; }
  /// Asked again after each start, until it waits or nothing fits any more.
  virtual Choice act(const Observation& seen) = 0;
};

}  // namespace berth
