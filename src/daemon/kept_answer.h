// KeptAnswer: an answer that took a while to find is given again for a time, so that no more than a
// part in ten goes into finding it, however many ask.
#pragma once

#include <string>

#include "base/time.h"

namespace berth {

struct KeptAnswer {
  static constexpr Duration kCheap = std::chrono::milliseconds(20);

  std::string text;
  Time found{};
  Duration took{};

  bool fresh(Time now) const { return took > kCheap && now - found < 10 * took; }
};

}  // namespace berth
