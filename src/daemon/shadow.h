// Shadow: a second policy that decides on paper. Once a day, and when asked, the jobs of the last
// day are played again in the simulator under the policy in charge and under this one, and what
// that would have saved is told in words. Both are simulated, so that nothing but the policy
// differs.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "daemon/whatif.h"

namespace berth {

class Shadow {
 public:
  explicit Shadow(Loop& loop) : play_(loop) {}

  /// From now on; empty: none. What was told of another policy is forgotten.
  void follow(std::string policy, Time now);
  /// As a user names it, with the model that it may hold.
  const std::string& policy() const { return policy_; }
  /// What was found last; empty: nothing yet.
  const std::string& report() const { return report_; }

  bool busy() const { return play_.busy(); }
  /// `done` is called when there is a report, be it of a problem. Must not be called while busy.
  void play(std::string_view in_charge, Time now, std::function<void()> done);

  /// Call it in each turn, and at due().
  void check(std::string_view in_charge, Time now);
  Time due() const { return std::min(next_, play_.deadline()); }

 private:
  Whatif play_;
  std::string policy_;
  std::string report_;
  Time next_ = kNever;
};

/// The words for what `berth whatif --json` has printed: its last two rows are the policy in charge
/// and the other one.
std::string compare_in_words(std::string_view json);

}  // namespace berth
