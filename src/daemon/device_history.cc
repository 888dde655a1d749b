#include "daemon/device_history.h"

#include <algorithm>

namespace berth {

void DeviceHistory::add(Time at, const std::vector<DeviceSample>& samples) {
  const std::int64_t number = at.time_since_epoch() / kInterval;
  if (points_.empty() || number - first_ >= static_cast<std::int64_t>(points_.size() + kPoints)) {
    points_.clear();
    first_ = number;
  }
  if (number < first_) {
    return;  // the daemon's clock does not go back
  }
  while (first_ + static_cast<std::int64_t>(points_.size()) <= number) {
    points_.emplace_back();
  }
  while (points_.size() > kPoints) {
    points_.pop_front();
    ++first_;
  }
  Point& point = points_[static_cast<std::size_t>(number - first_)];
  point.resize(std::max(point.size(), samples.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto take = [&](Quantity quantity, std::optional<double> value) {
      if (value) {
        point[i][quantity].sum += *value;
        ++point[i][quantity].count;
      }
    };
    const DeviceSample& sample = samples[i];
    take(kUtilization, sample.utilization);
    take(kUsed,
         sample.used ? std::optional(static_cast<double>(sample.used->count)) : std::nullopt);
    take(kPower, sample.power);
    take(kTemperature, sample.temperature);
  }
}

std::vector<std::optional<double>> DeviceHistory::values(std::size_t device,
                                                         Quantity quantity) const {
  std::vector<std::optional<double>> values;
  values.reserve(points_.size());
  for (const Point& point : points_) {
    const Mean mean = device < point.size() ? point[device][quantity] : Mean{};
    values.push_back(mean.count == 0 ? std::nullopt : std::optional(mean.sum / mean.count));
  }
  return values;
}

}  // namespace berth
