#include "daemon/usage_log.h"

#include <algorithm>
#include <cmath>

#include "store/coding.h"

namespace berth {
namespace {

constexpr std::uint64_t kWithoutEnergy = 1;  // the format of files that have none
constexpr std::uint64_t kFormat = 2;
constexpr double kMillijoules = 1000;
constexpr std::uint64_t kMostEnergy = std::uint64_t{1} << 53;  // in millijoules
constexpr std::uint64_t kMostUsedDevices = 10'000;
/// The latest beginning, the longest time and the longest interval that a file may tell of: what
/// is added to it later still has room.
constexpr Duration kLatest = Duration::max() / 2;  // in the year 2116
constexpr Duration kLongest = Duration::max() / 4;
constexpr Duration kWidest = Duration::max() / 8;

/// False where the sum would be below `least` or too large to be one.
bool add_checked(std::int64_t& sum, std::int64_t more, std::int64_t least) {
  return !__builtin_add_overflow(sum, more, &sum) && sum >= least;
}

}  // namespace

void UsageLog::Cell::merge(const Cell& other) {
  memory = std::max(memory, other.memory);
  busy += other.busy;
  count += other.count;
}

void UsageLog::Point::merge(const Point& other) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].merge(other.cells[i]);
  }
}

void UsageLog::add(Time at, const std::vector<Reading>& readings) {
  if (readings.size() != devices_.size()) {
    return;
  }
  begun_ = points_.empty() ? at : begun_;
  Point point{std::max(Duration{}, at - begun_) / width_, {}};
  for (const Reading& reading : readings) {
    point.cells.push_back({reading.memory, static_cast<double>(reading.utilization.value_or(0)),
                           reading.utilization ? 1 : 0});
  }
  if (!points_.empty() && point.number <= points_.back().number) {
    points_.back().merge(point);
    return;
  }
  points_.push_back(std::move(point));
  while (points_.size() > kMostPoints) {
    halve();
  }
}

void UsageLog::halve() {
  width_ *= 2;
  std::vector<Point> half;
  for (Point& point : points_) {
    point.number /= 2;
    if (!half.empty() && half.back().number == point.number) {
      half.back().merge(point);
    } else {
      half.push_back(std::move(point));
    }
  }
  points_ = std::move(half);
}

std::optional<double> UsageLog::utilization(std::size_t point, std::size_t device) const {
  const Cell& cell = points_[point].cells[device];
  return cell.count == 0 ? std::nullopt : std::optional(cell.busy / cell.count);
}

std::vector<Bytes> UsageLog::peaks() const {
  std::vector<Bytes> peaks(devices_.size());
  for (const Point& point : points_) {
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      peaks[i] = std::max(peaks[i], point.cells[i].memory);
    }
  }
  return peaks;
}

/// Differences from point to point, which are small.
std::string UsageLog::encode() const {
  Encoder out;
  out.number(kFormat)
      .number(energy_ ? 1 + static_cast<std::uint64_t>(std::llround(*energy_ * kMillijoules)) : 0)
      .integer(begun_.time_since_epoch().count())
      .integer(width_.count())
      .list(devices_)
      .number(points_.size());
  std::int64_t number = 0;
  std::vector<Bytes> before(devices_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    out.integer(points_[i].number - number);
    number = points_[i].number;
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      const Bytes now = memory(i, device);
      out.integer(now.count - before[device].count);
      before[device] = now;
      const std::optional<double> busy = utilization(i, device);
      out.number(busy ? 1 + static_cast<std::uint64_t>(std::lround(*busy)) : 0);
    }
  }
  return out.take();
}

std::optional<UsageLog> UsageLog::decode(std::string_view bytes) {
  Decoder in(bytes);
  const std::uint64_t format = in.number();
  if (format != kFormat && format != kWithoutEnergy) {
    return std::nullopt;
  }
  const std::uint64_t energy = format == kFormat ? in.number_up_to(kMostEnergy) : 0;
  const Time begun{Duration(in.integer())};
  const Duration width(in.integer());
  UsageLog log(in.list());
  const std::uint64_t points = in.number_up_to(kMostPoints);
  if (in.failed() || begun < Time{} || begun > Time(kLatest) || width <= Duration{} ||
      width > kWidest || log.devices_.size() > kMostUsedDevices) {
    return std::nullopt;
  }
  if (energy > 0) {
    log.energy_ = static_cast<double>(energy - 1) / kMillijoules;
  }
  log.begun_ = begun;
  log.width_ = width;
  std::int64_t number = 0;
  std::vector<Bytes> memory(log.devices_.size());
  for (std::uint64_t i = 0; i < points && !in.failed(); ++i) {
    const std::int64_t least = i == 0 ? 0 : number + 1;
    if (!add_checked(number, in.integer(), least) || number > kLongest / width) {
      return std::nullopt;
    }
    Point point{number, {}};
    for (Bytes& each : memory) {
      if (!add_checked(each.count, in.integer(), 0)) {
        return std::nullopt;
      }
      const std::uint64_t busy = in.number_up_to(101);
      point.cells.push_back(
          {each, busy == 0 ? 0 : static_cast<double>(busy - 1), busy == 0 ? 0 : 1});
    }
    log.points_.push_back(std::move(point));
  }
  return in.failed() ? std::nullopt : std::optional(std::move(log));
}

}  // namespace berth
