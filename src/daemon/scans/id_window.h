// IdWindow: a walk over the numbers of all jobs, some at a time. The size of a piece depends on how
// long the last piece took, because a range may hold as many jobs as numbers or none, and a look at
// a job may be cheap or not. If the next piece takes much longer, it is given up and a smaller one
// is tried.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "store/query.h"

namespace berth {

class IdWindow {
 public:
  IdWindow(IdRange all, bool descending, std::uint64_t width)
      : left_(all), descending_(descending), width_(width) {}

  bool over() const { return left_.last < left_.first; }

  /// The numbers to look at next.
  IdRange next() const {
    IdRange range = left_;
    const std::uint64_t most = left_.last.value - left_.first.value + 1;
    if (descending_) {
      range.first.value = left_.last.value - std::min(most, width_) + 1;
    } else {
      range.last.value = left_.first.value + std::min(most, width_) - 1;
    }
    return range;
  }

  /// All of next() has been looked at.
  void looked(Duration took) {
    const IdRange range = next();
    descending_ ? left_.last.value = range.first.value - 1
                : left_.first.value = range.last.value + 1;
    if (took < kShort) {
      width_ = std::min(width_ * 2, kWidest);
    } else if (took > kLong) {
      width_ = std::max<std::uint64_t>(1, width_ / 2);
    }
  }
  /// It took too long to look at all of next(): the next piece is smaller.
  void narrow() { width_ = std::max<std::uint64_t>(1, width_ / 8); }
  /// How long a look at next() may take. A single job is looked at however long that takes.
  Duration patience() const { return width_ > 1 ? kPatience : kForever; }
  /// Only the numbers up to `last`, in the order of the walk, have been looked at.
  void looked_until(JobId last) {
    descending_ ? left_.last.value = last.value - 1 : left_.first.value = last.value + 1;
  }

 private:
  static constexpr Duration kShort = std::chrono::microseconds(200);
  static constexpr Duration kLong = std::chrono::microseconds(500);
  static constexpr Duration kPatience = std::chrono::milliseconds(20);
  static constexpr std::uint64_t kWidest = 1'000'000;

  IdRange left_;
  bool descending_;
  std::uint64_t width_;
};

}  // namespace berth
