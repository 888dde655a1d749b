#include "gpu/expected_power.h"

#include <cmath>

namespace berth {

std::map<std::string, DevicePower> expected_power(Devices& devices) {
  constexpr double kIdlePart = 1.0 / 7;
  std::map<std::string, DevicePower> expected;
  const std::vector<DeviceSample> samples = devices.sample();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    DevicePower& power = expected[devices.list()[i].spec.name];
    if (const std::optional<double> limit = samples[i].power_limit; limit && *limit > 0) {
      // In whole milliwatts, as the journal keeps them: a replay must reckon with the same.
      power.busy = std::round(*limit * 1000) / 1000;
      power.idle = std::round(*limit * kIdlePart * 1000) / 1000;
    }
  }
  return expected;
}

}  // namespace berth
