#include "policy/by_owner.h"

#include <algorithm>
#include <tuple>

#include "policy/pool.h"

namespace berth {

std::optional<Proposal> ByOwner::propose(const View& view) {
  struct Candidate {
    double score;
    Queue::Head head;
  };
  std::vector<Candidate> candidates;
  std::map<OwnerId, double> scores;
  for (const Queue::Head& head : view.queue().heads()) {
    const OwnerId owner = view.queue().bucket(head.shape).owner;
    auto known = scores.find(owner);
    if (known == scores.end()) {
      known = scores.emplace(owner, score(owner, view.job(head.first.job).weight, view)).first;
    }
    candidates.push_back({known->second, head});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.score, a.head) < std::tie(b.score, b.head);
  });
  for (const Candidate& candidate : candidates) {
    if (auto devices = view.place(candidate.head.shape, {})) {
      chosen(view.queue().bucket(candidate.head.shape).owner);
      return Proposal{candidate.head.first.job, std::move(*devices)};
    }
  }
  return std::nullopt;
}

double expected_use(const Job& job, const Needs& needs) {
  constexpr Duration kTypical = std::chrono::hours(1);  // where nobody can tell
  const Duration length = std::min(job.expected_left(), job.limit);
  return to_seconds(length == kForever ? kTypical : length) *
         static_cast<double>(amount_of(needs)) / kWholeShare;
}

}  // namespace berth
