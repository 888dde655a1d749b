// IdRuns: many job numbers in any order as a short JSON text. Numbers that count up or down by one
// are a run: [first, count, step].
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace berth {

class IdRuns {
 public:
  void add(JobId id);
  std::uint64_t count() const { return count_; }
  /// "[[1,100,1],[7,1,0]]"; nothing can be added after it.
  std::string take();

 private:
  void close();

  std::string text_ = "[";
  std::uint64_t count_ = 0;  // in all
  std::uint64_t first_ = 0;  // of the open run
  std::uint64_t length_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace berth
