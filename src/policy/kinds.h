// Kinds: the kinds of job that wait, one entry for each shape, in the order of their first jobs. A
// policy says what is known about a kind, and finds the first one that it can use without a look at
// all of them. Jobs join and leave by the million, and most do not change what is known about their
// kind, so that is brought up to date when a decision is due.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "core/queue.h"
#include "policy/gap_tree.h"

namespace berth {

template <class Measures>
class Kinds {
 public:
  using Tree = GapTree<Measures>;
  using Entry = typename Tree::Entry;

  /// A job of this shape has joined or left.
  void touch(ShapeId shape) {
    if (!touched_.empty() && touched_.back() == shape) {
      return;
    }
    Kind& kind = kinds_[shape.value];
    if (!std::exchange(kind.touched, true)) {
      touched_.push_back(shape);
    }
  }
  /// What is known about any kind may have changed.
  void touch_all(const Queue& queue) {
    for (const Queue::Head& head : queue.heads()) {
      touch(head.shape);
    }
  }

  /// Brings the entries up to date. `measure` tells what is known about a bucket.
  template <class Measure>
  void settle(const Queue& queue, Measure measure);

  /// As of the last settle(). Its items are shapes.
  const Tree& in_order() const { return tree_; }
  /// The entry of a shape that has one.
  const Entry& of(ShapeId shape) const { return kinds_.at(shape.value).entry; }

 private:
  struct Kind {
    Entry entry;
    bool listed = false;  // in the tree
    bool touched = false;
  };

  void drop(Kind& kind);

  std::unordered_map<std::uint32_t, Kind> kinds_;  // by shape; never iterated over
  std::vector<ShapeId> touched_;
  Tree tree_;
};

template <class Measures>
void Kinds<Measures>::drop(Kind& kind) {
  if (std::exchange(kind.listed, false)) {
    tree_.erase(kind.entry.key);
  }
}

template <class Measures>
template <class Measure>
void Kinds<Measures>::settle(const Queue& queue, Measure measure) {
  // First all go that stand elsewhere now: an edit may have made one the first of another kind.
  for (const ShapeId shape : touched_) {
    const auto found = kinds_.find(shape.value);
    const QueueKeys& jobs = queue.bucket(shape).jobs;
    found->second.touched = false;
    if (jobs.empty()) {
      drop(found->second);
      kinds_.erase(found);
    } else if (found->second.entry.key != jobs.front()) {
      drop(found->second);
    }
  }
  for (const ShapeId shape : touched_) {
    const Bucket& bucket = queue.bucket(shape);
    if (bucket.jobs.empty()) {
      continue;
    }
    Kind& kind = kinds_.find(shape.value)->second;
    const Entry now{bucket.jobs.front(), shape.value, measure(bucket)};
    if (!std::exchange(kind.listed, true)) {
      tree_.insert(now);
    } else if (kind.entry != now) {
      tree_.update(now.key, now.measures);
    }
    kind.entry = now;
  }
  touched_.clear();
}

}  // namespace berth
