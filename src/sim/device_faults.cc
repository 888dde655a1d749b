#include "sim/device_faults.h"

#include <algorithm>

#include "sim/distributions.h"

namespace berth {

void DeviceFaults::begin(std::size_t devices, Time now) {
  if (faults_.between == kForever) {
    return;
  }
  for (std::uint32_t i = 0; i < devices; ++i) {
    queue_.push({now + time_to_failure(), DeviceId{i}, true});
  }
}

DeviceFaults::Fault DeviceFaults::take(Time now) {
  const Fault fault = queue_.top();
  queue_.pop();
  const Duration until_next = fault.fails ? faults_.repair : time_to_failure();
  queue_.push({now + until_next, fault.device, !fault.fails});
  return fault;
}

Duration DeviceFaults::time_to_failure() {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
      std::min(exponential(random_, to_seconds(faults_.between)), 4e9)));
}

}  // namespace berth
