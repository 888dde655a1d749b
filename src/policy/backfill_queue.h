// BackfillQueue: the waiting jobs of an owner in order, by shape. If one job of a shape finds no
// devices, no other does, so a search for jobs that may start past others meets each shape only
// once. The jobs themselves stand in the scheduler's queue, in buckets of owner and shape.
#pragma once

#include <optional>
#include <vector>

#include "policy/gap.h"
#include "policy/kinds.h"

namespace berth {

class BackfillQueue {
 public:
  struct Waiting {
    QueueKey key;
    ShapeId shape;
    Measures measures;
  };

  /// A job of this shape has joined or left.
  void joined(ShapeId shape) { change(shape, 1); }
  void left(ShapeId shape) { change(shape, -1); }
  bool empty() const { return jobs_ == 0; }

  /// Call it before the following.
  void settle(const Queue& queue) { shapes_.settle(queue, measures_of); }

  /// One entry for each shape: its first job, and the least of what its jobs take.
  const BackfillTree& shapes() const { return shapes_.in_order(); }

  /// The first job of this shape that the gap takes; there must be jobs of the shape.
  std::optional<Waiting> first_of(ShapeId shape, const Queue& queue, const Gap& gap) const;

  /// Meets the jobs that a gap takes in order, but only the first of each shape. Valid until the
  /// queue changes.
  class Search {
   public:
    Search(const BackfillQueue& jobs, const Queue& queue, const Gap& gap)
        : jobs_(&jobs), queue_(&queue), gap_(gap) {}
    /// The next of them; nothing when there is none.
    std::optional<Waiting> next();

   private:
    const BackfillQueue* jobs_;
    const Queue* queue_;
    Gap gap_;
    std::optional<QueueKey> met_;   // the first job of the last shape that was looked at
    std::vector<Waiting> pending_;  // found behind the first of their shapes; a heap
  };

 private:
  static Measures measures_of(const Bucket& bucket);

  void change(ShapeId shape, std::ptrdiff_t jobs) {
    shapes_.touch(shape);
    jobs_ += static_cast<std::size_t>(jobs);
  }

  std::size_t jobs_ = 0;
  Kinds<Measures> shapes_;
};

}  // namespace berth
