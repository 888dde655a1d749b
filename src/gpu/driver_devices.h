// Devices that a driver lists and from which the user may choose.
#pragma once

#include <span>
#include <vector>

#include "gpu/devices.h"

namespace berth {

class DriverDevices : public Devices {
 public:
  /// Reduces list() to these of its entries, in this order. An index may occur more than once. The
  /// driver is no longer asked about other devices. Must be called before any method other than
  /// list().
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
