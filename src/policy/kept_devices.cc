#include "policy/kept_devices.h"

#include <algorithm>

namespace berth {

std::optional<Reservation> keep_devices(const View& view, const Job& job, bool collect) {
  const Needs& needs = view.queue().needs(job.shape);
  std::vector<std::pair<Time, DeviceId>> free;
  for (std::uint32_t i = 0; i < view.devices().size(); ++i) {
    const DeviceSlot& slot = view.devices()[DeviceId{i}];
    if (slot.health == DeviceHealth::Ok && view.devices().fits_when_empty(DeviceId{i}, needs)) {
      free.emplace_back(view.expected_free(DeviceId{i}, needs), DeviceId{i});
    }
  }
  if (needs.gpus == 0 || free.size() < needs.gpus) {
    return std::nullopt;  // devices are drained or lost: keeping the others back gains nothing
  }
  std::sort(free.begin(), free.end());
  Reservation kept{job.id, free[needs.gpus - 1].first, {}};
  if (kept.from == kNever && !collect) {
    return std::nullopt;
  }
  auto end = free.begin() + needs.gpus;
  while (kept.from != kNever && end != free.end() && end->first <= kept.from) {
    ++end;
  }
  std::for_each(end - needs.gpus, end,
                [&](const auto& each) { kept.devices.push_back(each.second); });
  return kept;
}

}  // namespace berth
