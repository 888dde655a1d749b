// Devices that a driver lists, of which the user may choose some.
#pragma once

#include <span>
#include <vector>

#include "gpu/devices.h"

namespace berth {

class DriverDevices : public Devices {
 public:
  /// list() becomes these entries of the list before, in this order; an index may come again.
  /// Others are no longer asked about. Called before anything else is.
  virtual void keep(std::span<const std::size_t> chosen) = 0;
};

/// The entries of `all` at these indexes, in this order.
template <class T>
std::vector<T> gather(const std::vector<T>& all, std::span<const std::size_t> chosen) {
  std::vector<T> some;
  some.reserve(chosen.size());
  for (const std::size_t index : chosen) {
    some.push_back(all[index]);
  }
  return some;
}

}  // namespace berth
