// DeviceHistory: what the devices did in the last ten minutes, for charts. Readings come about once
// a second, more often while jobs start; those of the same two seconds are one point, their mean.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "gpu/devices.h"

namespace berth {

class DeviceHistory {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);
  static constexpr std::size_t kPoints = 300;

  enum Quantity { kUtilization, kUsed, kPower, kTemperature, kQuantities };

  /// One reading of all devices, in their order. Devices may join.
  void add(Time at, const std::vector<DeviceSample>& samples);

  /// For a file, with the names of the devices in their order.
  std::string encode(const std::vector<std::string>& names) const;
  /// What a file tells of the devices that there are now; nothing where it makes no sense.
  static std::optional<DeviceHistory> decode(std::string_view bytes,
                                             const std::vector<std::string>& names);

  /// When the first point begins; those after it are kInterval apart.
  Time from() const { return Time(first_ * kInterval); }
  /// The values of a device, one for each point, as far as they are known.
  std::vector<std::optional<double>> values(std::size_t device, Quantity quantity) const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
  };
  using Point = std::vector<std::array<Mean, kQuantities>>;  // a row for each device

  std::int64_t first_ = 0;  // the number of the first point, counted from 1970
  std::deque<Point> points_;
};

}  // namespace berth
