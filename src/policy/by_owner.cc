#include "policy/by_owner.h"

#include <algorithm>
#include <tuple>

#include "policy/pool.h"

namespace berth {
namespace {

/// Kinds of job that are looked at, to find all owners, and that are tried of each.
constexpr std::size_t kMostLooks = 32'768;
constexpr std::size_t kMostKindsOfOne = 256;

}  // namespace

std::optional<Proposal> ByOwner::propose(const View& view) {
  struct Candidate {
    double score;
    Queue::Head head;
  };
  std::vector<Candidate> candidates;
  struct Owner {
    double score = 0;
    std::size_t kinds = 0;
  };
  std::map<OwnerId, Owner> owners;
  std::size_t looks = kMostLooks;
  for (const Queue::Head& head : view.queue().heads()) {
    if (looks-- == 0) {
      break;
    }
    const OwnerId id = view.queue().bucket(head.shape).owner;
    const auto [known, is_new] = owners.try_emplace(id);
    Owner& owner = known->second;
    if (is_new) {
      owner.score = score(id, view.job(head.first.job).weight, view);
    }
    // One with very many kinds must not hide the others.
    if (++owner.kinds <= kMostKindsOfOne && candidates.size() < kMostKinds) {
      candidates.push_back({owner.score, head});
    }
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
