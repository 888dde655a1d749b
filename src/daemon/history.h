// History: what past jobs teach about future jobs. Filled from the store at the start, then by each
// job that succeeds.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/time.h"

namespace berth {

class History {
 public:
  /// A job of this recipe succeeded after `runtime`.
  void learn(const std::string& recipe, Duration runtime);

  /// How long the next job of this recipe is expected to run; kForever when unknown.
  Duration expected(const std::string& recipe) const;
  /// How long jobs of any kind ran lately; kForever before the first one.
  Duration typical() const { return median(lately_); }

 private:
  using Runs = std::deque<Duration>;  // the newest last

  static void add(Runs& runs, Duration runtime, std::size_t most);
  static Duration median(const Runs& runs);

  std::map<std::string, Runs> recipes_;
  Runs lately_;
};

}  // namespace berth
