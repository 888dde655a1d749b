// Remedy: the smallest change to what a waiting job asks for with which it would fit now. It is
// found by asking the placement itself, so it is as true as the next decision.
#pragma once

#include <cstdint>
#include <string>

#include "core/device_table.h"

namespace berth {

struct Remedy {
  enum class Kind : std::uint8_t {
    None,
    Share,       // say how much memory it needs, and share a device
    LessMemory,  // claim less
    AnyDevice,   // drop the condition on which devices
    FewerGpus,
  };
  Kind kind = Kind::None;
  Bytes memory;            // Share, LessMemory: the most that fits now on each device
  std::uint32_t gpus = 0;  // FewerGpus
  std::string device;      // Share, LessMemory: the device that has so much, if it is one
};

Remedy find_remedy(const DeviceTable& devices, const Needs& needs, Placement placement);

/// "GPU 1 has 17.0 GiB free, but …"; empty when there is nothing to suggest.
std::string describe(const Remedy& remedy);

}  // namespace berth
