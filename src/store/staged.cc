#include "store/staged.h"

#include <algorithm>

namespace berth {

bool is_staged(const Staging& staging, JobId job) {
  return std::any_of(staging.begin(), staging.end(), [&](const StagedJobs& staged) {
    return staged.first <= job && job.value - staged.first.value < staged.count;
  });
}

std::vector<IdRange> without_staged(const std::vector<IdRange>& ranges, const Staging& staging) {
  std::vector<IdRange> left = ranges;
  for (const StagedJobs& staged : staging) {
    const IdRange hidden{staged.first, JobId{staged.first.value + staged.count - 1}};
    std::vector<IdRange> parts;
    for (const IdRange& range : left) {
      if (range.last < hidden.first || hidden.last < range.first) {
        parts.push_back(range);
        continue;
      }
      if (range.first < hidden.first) {
        parts.push_back({range.first, JobId{hidden.first.value - 1}});
      }
      if (hidden.last < range.last) {
        parts.push_back({JobId{hidden.last.value + 1}, range.last});
      }
    }
    left = std::move(parts);
  }
  return left;
}

}  // namespace berth
