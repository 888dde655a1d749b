// Candidates: the first waiting jobs in a fixed order, with what a model needs to know about each.
// A rank that changes while jobs wait cannot be kept in a tree, so only so many jobs are ranked at
// each decision, however many wait. Changing the list costs O(log n).
#pragma once

#include <set>
#include <span>
#include <vector>

#include "core/policy.h"
#include "rl/features.h"

namespace berth {

inline constexpr std::size_t kMostCandidates = 128;

class Candidates {
 public:
  Candidates() { window_.reserve(kMostCandidates + 1); }

  void joined(const Job& job, const Needs& needs);
  void left(const Job& job);

  /// The first of all jobs in order, up to kMostCandidates; call this before a decision.
  std::span<const RankedJob> look(const View& view);

  bool empty() const { return window_.empty() && behind_.empty(); }
  /// How many wait; not all are candidates.
  std::size_t waiting() const { return window_.size() + behind_.size(); }
  bool are_all() const { return behind_.empty(); }

 private:
  std::vector<RankedJob> window_;  // in order, and all before those behind
  std::set<QueueKey> behind_;
};

/// What is the same for all of them. `waiting`: how many jobs wait in all.
Rest rest_of(const DeviceTable& devices, std::span<const RankedJob> jobs, std::size_t waiting);

}  // namespace berth
