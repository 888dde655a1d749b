// DeviceHistory: what the devices did in the last ten minutes, for charts. Readings arrive about
// once a second, and more often while jobs start. All readings within the same two seconds become
// one point, their mean.
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

  /// Adds one reading of all devices, in their order. Later readings may have more devices.
  void add(Time at, const std::vector<DeviceSample>& samples);

  /// Encodes the history for a file. `names` lists the devices in their order.
  std::string encode(const std::vector<std::string>& names) const;
  /// Reads the history of the present devices, which `names` lists, from a file's bytes. Returns
  /// nothing when the bytes make no sense.
  static std::optional<DeviceHistory> decode(std::string_view bytes,
                                             const std::vector<std::string>& names);

  /// When the first point begins. Points are kInterval apart.
  Time from() const { return Time(first_ * kInterval); }
  /// The values of a device, one for each point; empty where unknown.
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
