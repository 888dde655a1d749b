#include "policy/backfill_queue.h"

#include <algorithm>

#include "base/check.h"

namespace berth {
namespace {

/// For a heap whose top is the first in order.
bool stands_behind(const BackfillQueue::Waiting& a, const BackfillQueue::Waiting& b) {
  return b.key < a.key;
}

}  // namespace

void BackfillQueue::insert(const Waiting& job) {
  const auto [found, added] = jobs_.try_emplace(job.shape.value);
  Shape& shape = found->second;
  if (added) {
    shape.amount = job.measures.amount;
    shape.memory = job.measures.memory;
    shape.listed.item = job.shape.value;
  }
  BERTH_CHECK(shape.amount == job.measures.amount && shape.memory == job.measures.memory);
  shape.jobs.insert({job.key, job.measures.length});
  list(shape, added);
}

void BackfillQueue::erase(const QueueKey& key, ShapeId id) {
  const auto found = jobs_.find(id.value);
  Shape& shape = found->second;
  shape.jobs.erase(key);
  if (shape.jobs.empty()) {
    shapes_.erase(shape.listed.key);
    jobs_.erase(found);
  } else {
    list(shape, false);
  }
}

/// Brings the entry of a shape up to date.
void BackfillQueue::list(Shape& shape, bool added) {
  const BackfillEntry now{
      shape.jobs.front().key, shape.listed.item, {shape.amount, shape.memory, shape.jobs.least()}};
  if (!added && shape.listed == now) {
    return;
  }
  if (!added) {
    shapes_.erase(shape.listed.key);
  }
  shape.listed = now;
  shapes_.insert(now);
}

std::optional<BackfillQueue::Waiting> BackfillQueue::first_of(ShapeId id, const Gap& gap) const {
  const Shape& shape = jobs_.at(id.value);
  if (shape.amount > gap.room || shape.memory > gap.memory) {
    return std::nullopt;
  }
  const bool any = shape.amount <= gap.spare && shape.memory <= gap.spare_memory;
  const LengthEntry* found = shape.jobs.first(LengthGap{any ? Duration::max() : gap.length});
  if (found == nullptr) {
    return std::nullopt;
  }
  return Waiting{found->key, id, {shape.amount, shape.memory, found->measures}};
}

/// A shape is met where its first job stands, but the job that the gap takes may stand further
/// behind: it is kept back until all shapes in front of it have been met.
std::optional<BackfillQueue::Waiting> BackfillQueue::Search::next() {
  for (;;) {
    const BackfillEntry* shape =
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
    const auto found = queue_->first_of(ShapeId{shape->item}, gap_);
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
