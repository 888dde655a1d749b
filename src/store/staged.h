// Staged jobs: a submission of very many is written little by little, under numbers that are kept
// for it. Nobody sees such jobs, until all are there and they are shown, little by little again.
// What a daemon that died leaves half written is dropped; what is complete, the next one shows.
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
