// The ids of batch tasks. They count over all files and runs of a user, so that tasks of different
// files never write to the same place.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace berth {

/// Takes `count` ids that nobody has had; returns the first. `path` is the file with the next id,
/// which is made if it is missing. The first id is not below `least`. Processes that ask at the
/// same time get different ids.
Result<std::uint64_t> take_batch_ids(const std::string& path, std::uint64_t count,
                                     std::uint64_t least);

}  // namespace berth
