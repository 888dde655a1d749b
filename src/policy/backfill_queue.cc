#include "policy/backfill_queue.h"

#include <algorithm>

namespace berth {
namespace {

/// For a heap whose top is the first in order.
bool stands_behind(const BackfillQueue::Waiting& a, const BackfillQueue::Waiting& b) {
  return b.key < a.key;
}

}  // namespace

void BackfillQueue::insert(const Waiting& job) {
  jobs_[job.shape.value].insert({job.key, job.shape.value, job.measures});
  list(job.shape);
}

void BackfillQueue::erase(const QueueKey& key, ShapeId shape) {
  jobs_.at(shape.value).erase(key);
  list(shape);
}

/// Brings the entry of a shape up to date.
void BackfillQueue::list(ShapeId shape) {
  const auto jobs = jobs_.find(shape.value);
  const auto before = listed_.find(shape.value);
  if (jobs->second.empty()) {
    shapes_.erase(before->second.key);
    listed_.erase(before);
    jobs_.erase(jobs);
    return;
  }
  const BackfillTree::Entry now{jobs->second.first()->key, shape.value, jobs->second.least()};
  if (before == listed_.end()) {
    listed_.emplace(shape.value, now);
  } else if (before->second == now) {
    return;
  } else {
    shapes_.erase(before->second.key);
    before->second = now;
  }
  shapes_.insert(now);
}

std::optional<BackfillQueue::Waiting> BackfillQueue::first_of(ShapeId shape, const Gap& gap) const {
  const BackfillTree::Entry* found = jobs_.at(shape.value).first(gap);
  if (found == nullptr) {
    return std::nullopt;
  }
  return Waiting{found->key, shape, found->measures};
}

/// A shape is met where its first job stands, but the job that the gap takes may stand further
/// behind: it is kept back until all shapes in front of it have been met.
std::optional<BackfillQueue::Waiting> BackfillQueue::Search::next() {
  for (;;) {
    const BackfillTree::Entry* shape =
        met_ ? queue_->shapes_.first(*met_, gap_) : queue_->shapes_.first(gap_);
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
    if (const auto found = queue_->first_of(ShapeId{shape->item}, gap_)) {
      pending_.push_back(*found);
      std::push_heap(pending_.begin(), pending_.end(), stands_behind);
    }
  }
}

}  // namespace berth
