// Machine: the simulated devices, in a short notation. `24` is one machine with 24 GPUs, `3x8`
// three machines with 8 each, and `3x8x24GiB` gives the GPUs memory. Parts joined by `+` are
// different kinds. A part may end in a model and its speed: `2x8x80GiB:a100+4x4x16GiB:t4@0.4`.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/device.h"
#include "policy/policies.h"

namespace berth {

struct SimDevice {
  DeviceSpec spec;
  double speed = 1;  // a job of length d takes d / speed on it
};

using Machine = std::vector<SimDevice>;

inline constexpr std::size_t kMostSimDevices = 100'000;

/// The power that boards of this model are known to draw.
DevicePower usual_power(std::string_view model);

Result<Machine> parse_machine(std::string_view text);

}  // namespace berth
