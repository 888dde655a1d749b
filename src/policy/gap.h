// What jobs take, and what may start past a job that waits.
#pragma once

#include <limits>

#include "policy/gap_tree.h"
#include "policy/pool.h"

namespace berth {

/// What a job takes; of a group, the least that one of its jobs takes of each.
struct Measures {
  Amount amount = 0;
  Bytes memory;  // on one device
  Duration length{};

  friend bool operator==(const Measures&, const Measures&) = default;
};

inline Measures least_of(const Measures& a, const Measures& b) {
  return {std::min(a.amount, b.amount), std::min(a.memory, b.memory), std::min(a.length, b.length)};
}

/// A job may start past others if it needs no more than `room` and `memory`, and either is no
/// longer than `length` or needs no more than what is spare of both.
struct Gap {
  static constexpr Amount kAny = std::numeric_limits<Amount>::max();

  Amount room = kAny;
  Duration length = kForever;
  Amount spare = kAny;
  Bytes memory{kAny};
  Bytes spare_memory{kAny};

  bool takes(const Measures& job) const {
    return job.amount <= room && job.memory <= memory && (job.length <= length || spares(job));
  }
  /// Whether it takes such jobs however long they are.
  bool spares(const Measures& job) const {
    return job.amount <= spare && job.memory <= spare_memory;
  }
};

using BackfillTree = GapTree<Measures>;
using BackfillEntry = BackfillTree::Entry;

}  // namespace berth
