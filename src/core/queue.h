// Queue: the jobs that compete for devices, in the policy's order. Jobs of equal needs share a
// bucket: if the first of them does not fit, none does, so a decision looks at buckets and never at
// every job.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/needs_mix.h"
#include "core/queue_keys.h"

namespace berth {

/// The waiting jobs of one shape, in order. Never empty while the queue lists it.
struct Bucket {
  Needs needs;
  OwnerId owner;  // if the policy tells owners apart
  QueueKeys jobs;
  std::uint64_t blocked_at = 0;  // DeviceTable::freed() when it was last seen not to fit
};

class Queue {
 public:
  /// The shape of these needs of this owner; equal needs and owners have equal shapes. Shapes are
  /// never dropped: there are about as many as kinds of job.
  ShapeId intern(const Needs& needs, OwnerId owner = {});
  const Needs& needs(ShapeId shape) const { return buckets_[shape.value].needs; }

  void insert(const Job& job);
  void erase(const Job& job);

  std::size_t size() const { return size_; }
  /// How many devices all waiting jobs together want for themselves.
  std::size_t whole_devices_wanted() const { return whole_wanted_; }
  /// Told of waiting jobs by insert() and erase(), and of running ones by the scheduler.
  NeedsMix& mix() { return mix_; }
  const NeedsMix& mix() const { return mix_; }
  bool contains(const Job& job) const;

  /// Buckets with waiting jobs, in the order of their first jobs.
  struct Head {
    QueueKey first;
    ShapeId shape;

    friend constexpr auto operator<=>(const Head&, const Head&) = default;
  };
  const std::set<Head>& heads() const { return heads_; }
  const Bucket& bucket(ShapeId shape) const { return buckets_[shape.value]; }

  void mark_blocked(ShapeId shape, std::uint64_t freed) const {
    buckets_[shape.value].blocked_at = freed;
  }

 private:
  mutable std::vector<Bucket> buckets_;  // mutable: blocked_at is a cache
  std::map<std::pair<Needs, OwnerId>, ShapeId> shapes_;
  std::set<Head> heads_;
  std::size_t size_ = 0;
  std::size_t whole_wanted_ = 0;
  NeedsMix mix_;
};

}  // namespace berth
