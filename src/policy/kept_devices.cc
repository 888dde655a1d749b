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

bool KnownEnds::knows(const View& view, DeviceId id) {
  Known& known = known_[id.value];
  if (known == Known::Unasked) {
    const std::vector<DeviceLease>& leases = view.devices()[id].leases;
    const bool any =
        leases.empty() || std::any_of(leases.begin(), leases.end(), [&](const DeviceLease& lease) {
          const Job& job = view.job(lease.job);
          return std::min(job.expected_left(), job.limit) != kForever;
        });
    known = any ? Known::Yes : Known::No;
  }
  return known == Known::Yes;
}

/// Of devices with room for the job now the time is known, too: it is now.
bool KnownEnds::may_keep(const View& view, const Needs& needs, bool nowhere) {
  known_.resize(view.devices().size());
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < known_.size() && found < needs.gpus; ++i) {
    const DeviceId id{i};
    found += knows(view, id) || (!nowhere && view.devices().fits(id, needs)) ? 1 : 0;
  }
  return found == needs.gpus;
}

}  // namespace berth
