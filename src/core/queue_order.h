// The waiting jobs of all buckets of a queue, in the policy's order. Only the jobs asked for are
// looked at, so a caller who wants the first few does not pay for a long queue.
#pragma once

#include <cstddef>
#include <vector>

#include "core/queue.h"

namespace berth {

/// The first `most` jobs that compete for devices.
std::vector<JobId> first_in_order(const Queue& queue, std::size_t most);

}  // namespace berth
