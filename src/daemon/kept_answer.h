// KeptAnswer: an answer that took a while to compute is reused for a time, so that at most a tenth
// of the time goes into computing it, however many clients ask.
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
