// The use of devices as text, with the columns, units and spelling of
//   nvidia-smi --query-gpu=index,timestamp,name,utilization.gpu,utilization.memory,power.draw
//     --format=csv
// so that whatever reads nvidia-smi's files reads these.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "gpu/devices.h"

namespace berth {

inline constexpr std::string_view kUseHeader =
    "index, timestamp, name, utilization.gpu [%], utilization.memory [%], power.draw [W]\n";

/// "2024/11/20 14:03:22.123", in the time zone of the machine.
std::string use_timestamp(std::chrono::system_clock::time_point when);

/// One line. What the driver does not tell is "[N/A]", as nvidia-smi has it.
std::string use_row(const DeviceInfo& device, const DeviceSample& sample,
                    std::string_view timestamp);

}  // namespace berth
