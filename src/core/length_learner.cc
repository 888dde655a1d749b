#include "core/length_learner.h"

#include <algorithm>

namespace berth {

Duration LengthLearner::expected(const Recipe& recipe, std::uint32_t user) const {
  constexpr Duration kLeast = std::chrono::seconds(5);
  return std::max(book_.outlook(recipe, user).median, kLeast);
}

std::vector<Reestimate> LengthLearner::changes(const Scheduler& scheduler, std::size_t most) {
  std::vector<Reestimate> changes;
  most -= waiters_.go_through(most,
                              [this](const std::string& recipe) { return !book_.has_run(recipe); });
  waiters_.visit_changed(scheduler, most,
                         [&](const Job& job, const Recipe& recipe, std::uint32_t user) {
                           const Duration length = expected(recipe, user);
                           if (length != kForever && differs(job.expected, length)) {
                             changes.push_back({job.id, length});
                           }
                         });
  return changes;
}

}  // namespace berth
