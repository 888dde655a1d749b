#include "core/fragmentation.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

namespace berth {

std::int64_t fragmentation(const std::vector<std::int64_t>& free, const NeedsMix& mix,
                           std::size_t largest_machine) {
  const std::int64_t all = std::accumulate(free.begin(), free.end(), std::int64_t{0});
  std::int64_t sum = 0;
  for (const auto& [gpus, wanting_more] : mix.wanting_more()) {
    const std::size_t here = gpus <= largest_machine ? gpus : 1;
    // Jobs that want more of each device than this find too few here.
    const std::int64_t enough = here <= free.size() ? free[here - 1] : 0;
    const std::int64_t homeless = wanting_more[static_cast<std::size_t>(enough)];
    sum += all * homeless;
    for (std::size_t i = here; i < free.size(); ++i) {
      sum += free[i] * (wanting_more[static_cast<std::size_t>(free[i])] - homeless);
    }
  }
  return sum;
}

namespace {

using Devices = std::span<const OpenDevice>;  // of one machine, those with the least room first

/// The measure that is descended: that of the mix, and of one more job that wants the largest
/// machine for itself.
std::int64_t measure(const std::vector<std::int64_t>& free, const NeedsMix& mix,
                     std::size_t largest_machine) {
  const bool untouched = free.size() >= largest_machine && free[largest_machine - 1] == kWholeShare;
  const std::int64_t all = std::accumulate(free.begin(), free.end(), std::int64_t{0});
  return fragmentation(free, mix, largest_machine) + (untouched ? 0 : all);
}

/// What the job adds to the measure on the first `count` devices that fit from `from` on.
std::int64_t added(Devices devices, std::size_t from, std::size_t count, const NeedsMix& mix,
                   std::size_t largest_machine) {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool taken = i >= from && count > 0 && devices[i].fits;
    count -= taken ? 1 : 0;
    before.push_back(devices[i].free);
    after.push_back(std::max<std::int64_t>(devices[i].free - (taken ? devices[i].part : 0), 0));
  }
  std::sort(before.begin(), before.end(), std::greater<>());
  std::sort(after.begin(), after.end(), std::greater<>());
  return measure(after, mix, largest_machine) - measure(before, mix, largest_machine);
}

}  // namespace

std::vector<OpenDevice> least_fragmenting(std::vector<OpenDevice> devices, std::size_t count,
                                          const NeedsMix& mix, std::size_t largest_machine) {
  std::sort(devices.begin(), devices.end(), [](const OpenDevice& a, const OpenDevice& b) {
    return std::tuple(a.machine, a.free, a.id) < std::tuple(b.machine, b.free, b.id);
  });
  Devices best;
  std::size_t first = 0;
  auto least = std::pair(std::numeric_limits<std::int64_t>::max(), std::int64_t{0});
  for (auto begin = devices.begin(); begin != devices.end();) {
    const auto end = std::find_if(begin, devices.end(), [&](const OpenDevice& device) {
      return device.machine != begin->machine;
    });
    const Devices machine(begin, end);
    begin = end;
    const auto fitting = std::count_if(machine.begin(), machine.end(),
                                       [](const OpenDevice& device) { return device.fits; });
    if (static_cast<std::size_t>(fitting) < count) {
      continue;
    }
    // Several devices are those with the least room.
    std::int64_t tried = -1;
    for (std::size_t i = 0; i < machine.size() && (count == 1 || tried < 0); ++i) {
      if (!machine[i].fits || machine[i].free == tried) {
        continue;
      }
      tried = machine[i].free;
      const auto adds = std::pair(added(machine, i, count, mix, largest_machine), tried);
      if (adds < least) {
        least = adds;
        best = machine;
        first = i;
      }
    }
  }
  std::vector<OpenDevice> chosen(best.begin(), best.end());
  if (!chosen.empty()) {
    std::swap(chosen[0], chosen[first]);
  }
  return chosen;
}

}  // namespace berth
