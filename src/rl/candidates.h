// Candidates: the first waiting jobs in a fixed order, with what a model needs to know about each.
// A rank that changes while jobs wait cannot be kept in a tree, so only so many jobs are ranked at
// each decision, however many wait. The next few hundred are known by name, and the queue knows the
// rest, so a job that comes or goes far behind costs nothing here.
#pragma once

#include <span>
#include <vector>

#include "core/policy.h"
#include "core/queue_order.h"
#include "rl/features.h"
#include "rl/ranks.h"

namespace berth {

class Candidates {
 public:
  Candidates();

  void joined(const Job& job, const Needs& needs);
  void left(const Job& job);

  /// The first of all jobs in order, up to kMostCandidates; call this before a decision.
  std::span<const RankedJob> look(const View& view);
  /// As of the last look, but for those that have left or joined since.
  std::span<const RankedJob> seen() const { return window_; }

  bool empty() const { return waiting_ == 0; }
  /// How many wait; not all are candidates.
  std::size_t waiting() const { return waiting_; }
  bool are_all() const { return window_.size() == waiting_; }

 private:
  bool knows_all() const { return window_.size() + next_.size() == waiting_; }
  void add_to_next(std::vector<QueueKey>::iterator place, const QueueKey& key);

  std::vector<RankedJob> window_;  // in order, and all before those
  std::vector<QueueKey> next_;     // that come next, the last of them first; the rest comes later
  std::size_t waiting_ = 0;
  QueueWalk walk_;
};

/// What is the same for all of them. `waiting`: how many jobs wait in all.
Rest rest_of(const DeviceTable& devices, std::span<const RankedJob> jobs, std::size_t waiting);

}  // namespace berth
