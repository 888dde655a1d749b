// IdWindow: a walk over the numbers of all jobs, some at a time. How many numbers there are to a
// piece hangs on what the last one took: a range may hold that many jobs or none, and a look at one
// may be cheap or not. Where the next piece turns out to take much longer, it is given up and a
// smaller one tried.
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

  /// All of next() was looked at.
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
  /// It took too long to look at all of it: less of it is next.
  void narrow() { width_ = std::max<std::uint64_t>(1, width_ / 8); }
  /// How long it may take. A single job is looked at, however long that takes.
  Duration patience() const { return width_ > 1 ? kPatience : kForever; }
  /// Only what comes up to this one was.
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
