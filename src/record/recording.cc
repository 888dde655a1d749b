#include "record/recording.h"

#include <algorithm>
#include <set>

namespace berth {
namespace {

constexpr std::size_t kMostPoints = 4096;
constexpr std::size_t kMostOccupations = 100'000;

/// Adds what a quantity was between two readings: the mean of both.
void integrate(double& sum, double& seconds, std::optional<double> before,
               std::optional<double> now, double length) {
  if (before && now) {
    sum += (*before + *now) / 2 * length;
    seconds += length;
  }
}

std::optional<double> mean(double sum, double seconds, std::optional<double> only) {
  return seconds > 0 ? sum / seconds : only;
}

}  // namespace

Recording::Recording(const std::vector<DeviceInfo>& devices) {
  std::set<std::string> seen;
  for (const DeviceInfo& device : devices) {
    slots_.push_back(device.spec.name);
    std::optional<Meter>& meter = meters_.emplace_back();
    if (seen.insert(device.spec.name).second) {
      meter.emplace();
      meter->record.name = device.spec.name;
      meter->record.model = device.spec.model;
    }
  }
}

void Recording::extend(Time at) {
  begin_ = std::min(begin_, at);
  end_ = std::max(end_, at);
}

void Recording::sampled(const std::vector<DeviceSample>& samples, Time at) {
  extend(at);
  for (std::size_t i = 0; i < std::min(samples.size(), meters_.size()); ++i) {
    const DeviceSample& sample = samples[i];
    if (meters_[i] && (sample.utilization || sample.power || sample.energy)) {
      add(*meters_[i], sample, at);
    }
  }
}

void Recording::add(Meter& meter, const DeviceSample& sample, Time at) {
  DeviceRecord& record = meter.record;
  if (record.readings++ == 0) {
    record.counted = sample.energy.has_value();
    meter.first_count = sample.energy.value_or(0);
    if (sample.energy || sample.power) {
      record.joules = 0;
    }
  } else {
    const double length = to_seconds(at - meter.last_at);
    const DeviceSample& last = *meter.last;
    integrate(meter.utilization, meter.utilization_seconds, last.utilization, sample.utilization,
              length);
    integrate(meter.memory_busy, meter.memory_seconds, last.memory_busy, sample.memory_busy,
              length);
    integrate(meter.watts, meter.watt_seconds, last.power, sample.power, length);
  }
  record.peak_watts = std::max(record.peak_watts, sample.power.value_or(0));
  if (record.counted && sample.energy) {
    record.joules = std::max(*sample.energy - meter.first_count, record.joules.value_or(0));
  } else if (!record.counted && record.joules) {
    record.joules = meter.watts;
  }
  add_point(meter, {at, static_cast<double>(sample.utilization.value_or(0)),
                    sample.power.value_or(0), record.joules.value_or(0)});
  meter.last = sample;
  meter.last->processes.clear();
  meter.last_at = at;
}

/// The mean of as many readings as go into a point.
void Recording::add_point(Meter& meter, UsePoint point) {
  std::vector<UsePoint>& points = meter.record.points;
  if (meter.in_point == 0) {
    points.push_back(point);
  } else {
    UsePoint& open = points.back();
    const auto count = static_cast<double>(meter.in_point);
    open.utilization = (open.utilization * count + point.utilization) / (count + 1);
    open.watts = (open.watts * count + point.watts) / (count + 1);
    open.joules = point.joules;
  }
  meter.in_point = (meter.in_point + 1) % meter.step;
  if (points.size() < kMostPoints || meter.in_point != 0) {
    return;
  }
  for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
    const UsePoint& first = points[i];
    const UsePoint& second = points[i + 1];
    points[i / 2] = {first.at, (first.utilization + second.utilization) / 2,
                     (first.watts + second.watts) / 2, second.joules};
  }
  points.resize(points.size() / 2);
  meter.step *= 2;
}

void Recording::enter(std::uint64_t key, const std::string& name, std::size_t device, Time at) {
  extend(at);
  if (device >= meters_.size() || present_.contains({key, device})) {
    return;
  }
  if (occupations_.size() >= kMostOccupations) {
    cut_ = true;
    return;
  }
  const auto [known, added] = keys_.try_emplace(key, names_.size());
  if (added) {
    names_.push_back(name);
  }
  present_[{key, device}] = occupations_.size();
  occupations_.push_back({known->second, device, at, kNever});
}

void Recording::leave(std::uint64_t key, std::size_t device, Time at) {
  extend(at);
  if (const auto found = present_.extract({key, device}); !found.empty()) {
    occupations_[found.mapped()].to = at;
  }
}

void Recording::finish(Time at) {
  extend(at);
  for (const auto& [who, index] : present_) {
    occupations_[index].to = at;
  }
  present_.clear();
}

std::vector<DeviceRecord> Recording::devices() const {
  std::vector<DeviceRecord> all;
  for (const std::optional<Meter>& meter : meters_) {
    if (!meter) {
      continue;
    }
    DeviceRecord& record = all.emplace_back(meter->record);
    if (!meter->last) {
      continue;
    }
    record.mean_utilization =
        mean(meter->utilization, meter->utilization_seconds, meter->last->utilization);
    record.mean_memory_busy =
        mean(meter->memory_busy, meter->memory_seconds, meter->last->memory_busy);
    record.mean_watts = mean(meter->watts, meter->watt_seconds, meter->last->power);
  }
  return all;
}

}  // namespace berth
