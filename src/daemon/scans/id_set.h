// IdSet: a set of job numbers, kept as ranges. A million consecutive numbers take as much room as
// one.
#pragma once

#include <cstdint>
#include <map>

#include "base/ids.h"

namespace berth {

class IdSet {
 public:
  void add(JobId id);
  /// Returns whether the number was in the set.
  bool erase(JobId id);
  bool empty() const { return ranges_.empty(); }
  std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // from the first number of each to its last
};

}  // namespace berth
