// The waiting jobs of all buckets of a queue, in the policy's order. Only the jobs asked for are
// looked at, so a caller who wants the first few does not pay for a long queue.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/queue.h"

namespace berth {

/// One job after another. The queue must not change between begin() and the last next().
class QueueWalk {
 public:
  /// From the first job behind this one. It costs a search in each bucket whose first job stands
  /// before that.
  void begin(const Queue& queue, const std::optional<QueueKey>& after = std::nullopt);

  bool at_end() const { return met_.empty() && head_ == queue_->heads().end(); }
  QueueKey next();

 private:
  struct Next {
    ShapeId shape;
    QueueKeys::const_iterator at;
  };

  void meet(const Next& next);

  const Queue* queue_ = nullptr;
  std::set<Queue::Head>::const_iterator head_;  // the first bucket that was not met
  std::vector<Next> met_;                       // a heap, whose top comes next
};

/// The first `most` jobs that compete for devices.
std::vector<JobId> first_in_order(const Queue& queue, std::size_t most);

}  // namespace berth
