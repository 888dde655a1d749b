// BackfillTree: the waiting jobs in order, with the least amount and the least length in every
// subtree. With these, the first job that may start past others is found without a look at all
// jobs. A treap: its balance comes from numbers drawn per job, the same in every run.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "policy/pool.h"

namespace berth {

class BackfillTree {
 public:
  struct Entry {
    QueueKey key;
    ShapeId shape;
    Amount amount = 0;
    Duration length{};
  };
  /// A job qualifies if it needs no more than `room`, and either is no longer than `length` or
  /// needs no more than `spare`.
  struct Gap {
    Amount room = 0;
    Duration length{};
    Amount spare = 0;

    bool takes(Amount amount, Duration expected) const {
      return amount <= room && (expected <= length || amount <= spare);
    }
  };

  void insert(const Entry& entry);
  void erase(const QueueKey& key);
  bool contains(const QueueKey& key) const;
  /// The first entry behind `after` that the gap takes; nullptr: none. Valid until the next change.
  const Entry* first(const QueueKey& after, const Gap& gap) const;

 private:
  using Link = std::uint32_t;  // index into nodes_; 0: none
  struct Node {
    Entry entry;
    Amount least_amount = 0;
    Duration least_length{};
    std::uint64_t weight = 0;
    Link left = 0;
    Link right = 0;
  };

  void update(Node& node) const;
  Link merge(Link a, Link b);
  /// Splits the tree into the entries below the key and the others.
  std::pair<Link, Link> split(Link tree, const QueueKey& key);
  Link find(Link tree, const QueueKey& after, const Gap& gap) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<Link> unused_;
  Link root_ = 0;
  Random random_{1};
};

}  // namespace berth
