// DeviceFaults: when each device fails and is repaired, drawn from a seed. Two runs with one seed
// draw the same numbers in the same order.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "sim/simulate.h"

namespace berth {

class DeviceFaults {
 public:
  struct Fault {
    Time when;
    DeviceId device;
    bool fails;  // or is repaired

    bool operator>(const Fault& other) const {
      return std::pair(when, device) > std::pair(other.when, other.device);
    }
  };

  explicit DeviceFaults(const Faults& faults)
      : faults_(faults), random_(faults.seed ^ 0x6661756cULL) {}

  /// All devices work from now on, until the first failure of each.
  void begin(std::size_t devices, Time now);

  /// When the next fault comes; kNever: none does.
  Time next() const { return queue_.empty() ? kNever : queue_.top().when; }
  bool is_due(Time now) const { return !queue_.empty() && queue_.top().when <= now; }
  /// The next fault; the device's one after that counts from now.
  Fault take(Time now);

 private:
  Duration time_to_failure();

  Faults faults_;
  Random random_;
  std::priority_queue<Fault, std::vector<Fault>, std::greater<>> queue_;
};

}  // namespace berth
