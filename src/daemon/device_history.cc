#include "daemon/device_history.h"

#include <algorithm>
#include <cmath>

#include "store/coding.h"

namespace berth {
namespace {

constexpr std::uint64_t kHistoryFormat = 1;
constexpr std::uint64_t kMostDevices = 10'000;
/// Values are kept to a tenth: percent, bytes, watts, degrees.
constexpr double kTenths = 10;
constexpr std::uint64_t kMostTenths = std::uint64_t{1} << 53;
constexpr std::int64_t kLatestPoint = Duration::max() / DeviceHistory::kInterval / 2;

}  // namespace

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

std::string DeviceHistory::encode(const std::vector<std::string>& names) const {
  Encoder out;
  out.number(kHistoryFormat).list(names).integer(first_).number(points_.size());
  for (const Point& point : points_) {
    for (std::size_t device = 0; device < names.size(); ++device) {
      for (std::size_t quantity = 0; quantity < kQuantities; ++quantity) {
        const Mean mean = device < point.size() ? point[device][quantity] : Mean{};
        out.number(mean.count == 0 ? 0
                                   : 1 + static_cast<std::uint64_t>(std::llround(
                                             std::max(0.0, mean.sum / mean.count * kTenths))));
      }
    }
  }
  return out.take();
}

std::optional<DeviceHistory> DeviceHistory::decode(std::string_view bytes,
                                                   const std::vector<std::string>& names) {
  Decoder in(bytes);
  const bool known = in.number() == kHistoryFormat;
  const std::vector<std::string> then = in.list();
  DeviceHistory history;
  history.first_ = in.integer();
  const std::uint64_t points = in.number_up_to(kPoints);
  if (!known || in.failed() || then.size() > kMostDevices || history.first_ < 0 ||
      history.first_ > kLatestPoint) {
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < points && !in.failed(); ++i) {
    Point point(names.size());
    for (const std::string& name : then) {
      const auto place =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      for (std::size_t quantity = 0; quantity < kQuantities; ++quantity) {
        const std::uint64_t value = in.number_up_to(kMostTenths);
        if (value > 0 && place < names.size()) {
          point[place][quantity] = {static_cast<double>(value - 1) / kTenths, 1};
        }
      }
    }
    history.points_.push_back(std::move(point));
  }
  return in.failed() ? std::nullopt : std::optional(std::move(history));
}

}  // namespace berth
