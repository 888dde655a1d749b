// Strong integer ids: a JobId cannot be passed where a DeviceId is meant.
#pragma once

#include <compare>
#include <cstdint>

namespace berth {

template <class Tag, class Rep>
struct Id {
  Rep value{};

  friend constexpr auto operator<=>(Id, Id) = default;
};

/// Jobs count from 1, in order of submission; 0 is no job.
using JobId = Id<struct JobTag, std::uint64_t>;

/// Index of a device in the scheduler's table; stays the same while the scheduler lives.
using DeviceId = Id<struct DeviceTag, std::uint32_t>;

/// The owner to whom a job's use of devices is charged; the driver knows the names. 0 is no
/// particular owner.
using OwnerId = Id<struct OwnerTag, std::uint32_t>;

}  // namespace berth
