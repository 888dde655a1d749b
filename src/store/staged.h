// Staged jobs: a submission of very many jobs is written little by little, under numbers that are
// reserved for it. Its jobs are hidden until all of them are written; then they are shown, again
// little by little. If a daemon dies, the next one drops a submission that is half written, and
// shows one that is complete.
#pragma once

#include <cstdint>
#include <vector>

#include "store/query.h"

namespace berth {

struct StagedJobs {
  JobId first;
  std::uint64_t count = 0;
  bool complete = false;
};

/// In order of their numbers.
using Staging = std::vector<StagedJobs>;

bool is_staged(const Staging& staging, JobId job);
/// The parts of `ranges`, which are in order, that are not staged.
std::vector<IdRange> without_staged(const std::vector<IdRange>& ranges, const Staging& staging);

}  // namespace berth
