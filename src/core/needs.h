// Needs: what a job asks of the devices. Jobs with equal needs are interchangeable to placement, so
// the queue keeps them together.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace berth {

struct Needs {
  std::uint32_t gpus = 1;         // devices at once; 0 is a job for the CPU alone
  std::uint32_t share = 0;        // thousandths of each device's compute; 0: not stated
  Bytes memory;                   // claimed on each device; 0: not known
  std::string model;              // a part of the device's model name, any case
  std::vector<std::string> only;  // device names or UUIDs; empty: any
  std::vector<std::string> exclude;
  std::vector<std::string> prefer;
  /// Goes through MPS, and so shares a device only with jobs of this user that do, too: the user's
  /// id + 1, see mps_of(). 0: does not.
  std::uint32_t mps = 0;
  std::uint32_t thread_percentage = 0;  // the most of the device's threads it may have, 0: all

  /// With neither a claim nor a share there is no telling what fits beside it.
  bool alone() const { return share == 0 && memory == Bytes{}; }

  friend auto operator<=>(const Needs&, const Needs&) = default;
};

inline constexpr std::uint32_t kWholeShare = 1000;

constexpr std::uint32_t mps_of(std::uint32_t user) { return user + 1; }

/// "2 GPUs with 8.0 GiB each".
std::string describe(const Needs& needs);

}  // namespace berth
