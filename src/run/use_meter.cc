#include "run/use_meter.h"

#include <algorithm>

namespace berth {

UseMeter::UseMeter(const std::vector<DeviceInfo>& devices) {
  for (const DeviceInfo& device : devices) {
    Meter meter;
    meter.totals.name = device.spec.name;
    meter.totals.model = device.spec.model;
    meters_.push_back(std::move(meter));
  }
}

void UseMeter::add_job(DeviceId device, Duration busy) {
  DeviceTotals& totals = meters_[device.value].totals;
  ++totals.jobs;
  totals.busy += busy;
}

void UseMeter::add_sample(std::size_t index, const DeviceSample& sample) {
  Meter& meter = meters_[index];
  if (sample.utilization) {
    meter.utilization_sum += *sample.utilization;
    ++meter.utilization_samples;
  }
  meter.totals.peak_memory = std::max(meter.totals.peak_memory, sample.used.value_or(Bytes{}));
  if (sample.energy) {
    meter.first_energy = meter.first_energy.value_or(*sample.energy);
    meter.totals.energy = *sample.energy - *meter.first_energy;
  }
  meter.newest = sample;
}

std::vector<DeviceTotals> UseMeter::totals() const {
  std::vector<DeviceTotals> all;
  for (const Meter& meter : meters_) {
    all.push_back(meter.totals);
    if (meter.utilization_samples > 0) {
      all.back().mean_utilization = meter.utilization_sum / meter.utilization_samples;
    }
  }
  return all;
}

}  // namespace berth
