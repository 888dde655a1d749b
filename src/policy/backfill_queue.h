// BackfillQueue: waiting jobs in order, by shape. If one job of a shape finds no devices, no other
// does, so a search for jobs that may start past others meets each shape only once.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "policy/backfill_tree.h"

namespace berth {

class BackfillQueue {
 public:
  struct Waiting {
    QueueKey key;
    ShapeId shape;
    Measures measures;
  };

  void insert(const Waiting& job);
  void erase(const QueueKey& key, ShapeId shape);

  /// One entry for each shape: its first job, and the least of what its jobs take.
  const BackfillTree& shapes() const { return shapes_; }
  bool empty() const { return shapes_.empty(); }

  /// The first job of this shape that the gap takes; the queue must have jobs of the shape.
  std::optional<Waiting> first_of(ShapeId shape, const Gap& gap) const;

  /// Meets the jobs that a gap takes in order, but only the first of each shape. Valid until the
  /// queue changes.
  class Search {
   public:
    Search(const BackfillQueue& queue, const Gap& gap) : queue_(&queue), gap_(gap) {}
    /// The next of them; nothing when there is none.
    std::optional<Waiting> next();

   private:
    const BackfillQueue* queue_;
    Gap gap_;
    std::optional<QueueKey> met_;   // the first job of the last shape that was looked at
    std::vector<Waiting> pending_;  // found behind the first of their shapes; a heap
  };

 private:
  /// The waiting jobs of a shape, which are alike in all but their lengths.
  struct Shape {
    Amount amount = 0;
    Bytes memory;
    LengthTree jobs;
    BackfillEntry listed;  // in shapes_
  };

  void list(Shape& shape, bool added);

  std::unordered_map<std::uint32_t, Shape> jobs_;  // by shape; never iterated over
  BackfillTree shapes_;
};

}  // namespace berth
