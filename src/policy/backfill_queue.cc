#include "policy/backfill_queue.h"

#include <algorithm>

namespace berth {
namespace {

/// For a heap whose top is the first in order.
bool stands_behind(const BackfillQueue::Waiting& a, const BackfillQueue::Waiting& b) {
  return b.key < a.key;
}

}  // namespace

/// Jobs that share devices are measured by their claims: place() says whether the rest fits.
Measures BackfillQueue::measures_of(const Bucket& bucket) {
  const Needs& needs = bucket.needs;
  return {needs.alone() ? amount_of(needs) : 0, claim_of(needs), bucket.jobs.least_length()};
}

std::optional<BackfillQueue::Waiting> BackfillQueue::first_of(ShapeId id, const Queue& queue,
                                                              const Gap& gap) const {
  const Measures& shape = shapes_.of(id).measures;
  if (shape.amount > gap.room || shape.memory > gap.memory) {
    return std::nullopt;
  }
  const QueueKeys::Place* found =
      queue.bucket(id).jobs.first(gap.spares(shape) ? Duration::max() : gap.length);
  if (found == nullptr) {
    return std::nullopt;
  }
  return Waiting{found->key, id, {shape.amount, shape.memory, found->length}};
}

/// A shape is met where its first job stands, but the job that the gap takes may stand further
/// behind: it is kept back until all shapes in front of it have been met.
std::optional<BackfillQueue::Waiting> BackfillQueue::Search::next() {
  for (;;) {
    const BackfillEntry* shape =
        met_ ? jobs_->shapes().first(*met_, gap_) : jobs_->shapes().first(gap_);
    if (!pending_.empty() && (shape == nullptr || pending_.front().key < shape->key)) {
      std::pop_heap(pending_.begin(), pending_.end(), stands_behind);
      const Waiting found = pending_.back();
      pending_.pop_back();
      return found;
    }
    if (shape == nullptr) {
      return std::nullopt;
    }
    met_ = shape->key;
    const auto found = jobs_->first_of(ShapeId{shape->item}, *queue_, gap_);
    if (found && found->key == shape->key) {
      return found;
    }
    if (found) {
      pending_.push_back(*found);
      std::push_heap(pending_.begin(), pending_.end(), stands_behind);
    }
  }
}

}  // namespace berth
