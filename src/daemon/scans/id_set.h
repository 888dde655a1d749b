// IdSet: job numbers as ranges. A million in a row take as much room as one.
#pragma once

#include <cstdint>
#include <map>

#include "base/ids.h"

namespace berth {

class IdSet {
 public:
  void add(JobId id);
  /// Whether it was there.
  bool erase(JobId id);
  bool empty() const { return ranges_.empty(); }
  std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // the first of each, and its last
};

}  // namespace berth
