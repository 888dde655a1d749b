// UseMeter: adds up the use of devices during a run, for the table at its end.
#pragma once

#include <optional>
#include <vector>

#include "gpu/devices.h"
#include "run/observer.h"

namespace berth {

class UseMeter {
 public:
  explicit UseMeter(const std::vector<DeviceInfo>& devices);

  void add_job(DeviceId device, Duration busy);
  void add_sample(std::size_t index, const DeviceSample& sample);

  const std::optional<DeviceSample>& newest(std::size_t index) const {
    return meters_[index].newest;
  }
  std::vector<DeviceTotals> totals() const;

 private:
  struct Meter {
    DeviceTotals totals;
    double utilization_sum = 0;
    int utilization_samples = 0;
    std::optional<double> first_energy;
    std::optional<DeviceSample> newest;
  };
  std::vector<Meter> meters_;
};

}  // namespace berth
