#include "core/queue.h"

#include <algorithm>

#include "base/check.h"

namespace berth {

ShapeId Queue::intern(const Needs& needs, OwnerId owner) {
  const auto [found, added] =
      shapes_.try_emplace({needs, owner}, ShapeId{static_cast<std::uint32_t>(buckets_.size())});
  if (added) {
    buckets_.push_back({needs, owner, {}, 0});
  }
  return found->second;
}

void Queue::insert(const Job& job) {
  Bucket& bucket = buckets_[job.shape.value];
  const QueueKey key{job.rank, job.id};
  if (bucket.jobs.empty()) {
    heads_.insert({key, job.shape});
  } else if (key < bucket.jobs.front()) {
    heads_.erase({bucket.jobs.front(), job.shape});
    heads_.insert({key, job.shape});
  }
  bucket.jobs.insert(key, std::min(job.expected_left(), job.limit));
  ++size_;
  mix_.add(bucket.needs);
  whole_wanted_ += bucket.needs.alone() ? bucket.needs.gpus : 0;
}

void Queue::erase(const Job& job) {
  Bucket& bucket = buckets_[job.shape.value];
  const QueueKey key{job.rank, job.id};
  const bool was_head = !bucket.jobs.empty() && bucket.jobs.front() == key;
  BERTH_CHECK(bucket.jobs.erase(key));
  if (was_head) {
    heads_.erase({key, job.shape});
    if (!bucket.jobs.empty()) {
      heads_.insert({bucket.jobs.front(), job.shape});
    }
  }
  --size_;
  mix_.remove(bucket.needs);
  whole_wanted_ -= bucket.needs.alone() ? bucket.needs.gpus : 0;
}

bool Queue::contains(const Job& job) const {
  return buckets_[job.shape.value].jobs.contains({job.rank, job.id});
}

}  // namespace berth
