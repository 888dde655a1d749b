// The devices that are kept for a job that waits for more of them than are free.
#pragma once

#include "core/policy.h"

namespace berth {

/// The devices on which the job will have room first. Of those that have it by a known time, the
/// ones that have it latest: the others are of use to other jobs until then. Nothing where too few
/// devices serve, and nothing where nobody can tell when there will be room, unless `collect`:
/// then devices are kept one by one as they come free.
std::optional<Reservation> keep_devices(const View& view, const Job& job, bool collect);

}  // namespace berth
