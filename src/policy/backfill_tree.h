// GapTree: waiting jobs, or groups of them, in order, with the least of all measures in every
// subtree. With these, the first one that may start past others is found without a look at all of
// them. A treap: its balance comes from numbers drawn per entry, the same in every run.
//
// There are two of them: BackfillTree for groups of jobs that differ in all measures, and
// LengthTree for the jobs of one shape, which differ in their lengths only. A million jobs may be
// in the latter, so it keeps nothing else.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "policy/pool.h"

namespace berth {

/// What a job takes; of a group, the least that one of its jobs takes of each.
struct Measures {
  Amount amount = 0;
  Bytes memory;  // on one device
  Duration length{};

  friend bool operator==(const Measures&, const Measures&) = default;
};

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
    return job.amount <= room && job.memory <= memory &&
           (job.length <= length || (job.amount <= spare && job.memory <= spare_memory));
  }
};

/// What a gap takes of jobs that are alike in all but their lengths.
struct LengthGap {
  Duration longest{};

  bool takes(Duration length) const { return length <= longest; }
};

/// A group of jobs, or a job.
struct BackfillEntry {
  QueueKey key;
  std::uint32_t item = 0;  // what stands here, for the user of the tree
  Measures measures;

  friend bool operator==(const BackfillEntry&, const BackfillEntry&) = default;
};

/// A job of a shape.
struct LengthEntry {
  QueueKey key;
  Duration measures{};
};

template <class EntryType, class GapType>
class GapTree {
 public:
  using Entry = EntryType;
  using Least = decltype(Entry::measures);

  void insert(const Entry& entry);
  void erase(const QueueKey& key);
  bool contains(const QueueKey& key) const;
  bool empty() const { return root_ == 0; }
  /// The least of each measure. The tree must not be empty.
  const Least& least() const { return nodes_[root_].least; }
  /// The first entry. The tree must not be empty.
  const Entry& front() const;
  /// The first entry that the gap takes, of all or of those behind `after`; nullptr: none. Valid
  /// until the next change.
  const Entry* first(const GapType& gap) const;
  const Entry* first(const QueueKey& after, const GapType& gap) const;

 private:
  using Link = std::uint32_t;  // index into nodes_; 0: none
  struct Node {
    Entry entry;
    Least least;
    std::uint32_t weight = 0;
    Link left = 0;
    Link right = 0;
  };

  void update(Node& node) const;
  Link merge(Link a, Link b);
  Link without(Link tree, const QueueKey& key);
  /// Splits the tree into the entries below the key and the others.
  std::pair<Link, Link> split(Link tree, const QueueKey& key);
  Link find(Link tree, const GapType& gap) const;
  Link find(Link tree, const QueueKey& after, const GapType& gap) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<Link> unused_;
  Link root_ = 0;
  Random random_{1};
};

extern template class GapTree<BackfillEntry, Gap>;
extern template class GapTree<LengthEntry, LengthGap>;
using BackfillTree = GapTree<BackfillEntry, Gap>;
using LengthTree = GapTree<LengthEntry, LengthGap>;

}  // namespace berth
