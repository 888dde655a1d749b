#include "daemon/scans/id_set.h"

#include <algorithm>
#include <iterator>

namespace berth {

void IdSet::add(JobId id) {
  auto after = ranges_.upper_bound(id.value);
  const auto before = after == ranges_.begin() ? ranges_.end() : std::prev(after);
  const bool joins_before = before != ranges_.end() && before->second + 1 >= id.value;
  const bool joins_after = after != ranges_.end() && after->first == id.value + 1;
  std::uint64_t last = id.value;
  if (joins_before && before->second >= id.value) {
    return;
  }
  if (joins_after) {
    last = after->second;
    ranges_.erase(after);
  }
  if (joins_before) {
    before->second = last;
  } else {
    ranges_.emplace(id.value, last);
  }
}

bool IdSet::erase(JobId id) {
  const auto after = ranges_.upper_bound(id.value);
  if (after == ranges_.begin() || std::prev(after)->second < id.value) {
    return false;
  }
  const auto range = std::prev(after);
  const std::uint64_t last = range->second;
  if (range->first == id.value) {
    ranges_.erase(range);
  } else {
    range->second = id.value - 1;
  }
  if (last > id.value) {
    ranges_.emplace(id.value + 1, last);
  }
  return true;
}

}  // namespace berth
