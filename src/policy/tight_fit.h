// TightFit: the device that a job fills best, for jobs that share one. Of a machine with many
// devices it knows nothing: there, the placement has indexes, and this looks at every device.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/device_table.h"
#include "rl/features.h"

namespace berth {

class TightFit {
 public:
  static constexpr std::size_t kMostDevices = 64;

  struct Place {
    DeviceId device;
    double slack = 0;  // what stays free there of the device, 0 to 1
    double gap = 0;    // what is left of that beside the waiting job that fills it best
  };

  /// Before a decision, and after each start. `waiting`: those who could fill what stays free.
  void look(const DeviceTable& devices, std::span<const RankedJob> waiting);

  /// Whether it can tell anything about such a job.
  bool knows(const Needs& needs) const { return count_ > 0 && needs.gpus == 1 && !needs.alone(); }
  /// Nothing if the job fits nowhere now.
  std::optional<Place> find(const DeviceTable& devices, const Needs& needs,
                            std::span<const DeviceId> avoid) const;

 private:
  double gap_of(double slack) const;

  std::size_t count_ = 0;
  std::vector<double> shares_;  // of those who wait, ascending
  std::array<double, kMostDevices> free_share_{};
  std::array<double, kMostDevices> free_memory_{};  // part of the device's
};

}  // namespace berth
