// GapTree: waiting jobs, or groups of them, in order, with the least of all measures in every
// subtree. With these, the first one that fits into a gap is found without a look at all of them. A
// treap: its balance comes from numbers drawn per entry, the same in every run.
//
// `Measures` is what is known about an entry. least_of(a, b) makes of two what is known about both
// together, so that a gap that does not take this takes neither.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "core/queue_keys.h"

namespace berth {

template <class Measures>
class GapTree {
 public:
  struct Entry {
    QueueKey key;
    std::uint32_t item = 0;  // what stands here, for the user of the tree
    Measures measures;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  void insert(const Entry& entry);
  void erase(const QueueKey& key) { root_ = without(root_, key); }
  /// The entry of this key, which must be there, has other measures.
  void update(const QueueKey& key, const Measures& measures) { update(root_, key, measures); }
  bool contains(const QueueKey& key) const;
  bool empty() const { return root_ == 0; }
  /// The least of each measure. The tree must not be empty.
  const Measures& least() const { return nodes_[root_].least; }
  /// The first entry. The tree must not be empty.
  const Entry& front() const;
  /// The first entry that the gap takes, of all or of those behind `after`; nullptr: none. Valid
  /// until the next change.
  template <class Gap>
  const Entry* first(const Gap& gap) const {
    return entry(find(root_, gap));
  }
  template <class Gap>
  const Entry* first(const QueueKey& after, const Gap& gap) const {
    return entry(find(root_, after, gap));
  }

 private:
  using Link = std::uint32_t;  // index into nodes_; 0: none
  struct Node {
    Entry entry;
    Measures least;
    std::uint32_t weight = 0;
    Link left = 0;
    Link right = 0;
  };

  const Entry* entry(Link link) const { return link == 0 ? nullptr : &nodes_[link].entry; }
  void sum_up(Node& node) const;
  void update(Link tree, const QueueKey& key, const Measures& measures);
  Link merge(Link a, Link b);
  Link without(Link tree, const QueueKey& key);
  /// Splits the tree into the entries below the key and the others.
  std::pair<Link, Link> split(Link tree, const QueueKey& key);
  template <class Gap>
  Link find(Link tree, const Gap& gap) const;
  template <class Gap>
  Link find(Link tree, const QueueKey& after, const Gap& gap) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<Link> unused_;
  Link root_ = 0;
  Random random_{1};
};

template <class Measures>
void GapTree<Measures>::sum_up(Node& node) const {
  node.least = node.entry.measures;
  for (const Link link : {node.left, node.right}) {
    if (link != 0) {
      node.least = least_of(node.least, nodes_[link].least);
    }
  }
}

template <class Measures>
auto GapTree<Measures>::merge(Link a, Link b) -> Link {
  if (a == 0 || b == 0) {
    return a + b;
  }
  if (nodes_[a].weight > nodes_[b].weight) {
    nodes_[a].right = merge(nodes_[a].right, b);
    sum_up(nodes_[a]);
    return a;
  }
  nodes_[b].left = merge(a, nodes_[b].left);
  sum_up(nodes_[b]);
  return b;
}

template <class Measures>
auto GapTree<Measures>::split(Link tree, const QueueKey& key) -> std::pair<Link, Link> {
  if (tree == 0) {
    return {0, 0};
  }
  Node& node = nodes_[tree];
  if (node.entry.key < key) {
    const auto [below, rest] = split(node.right, key);
    node.right = below;
    sum_up(node);
    return {tree, rest};
  }
  const auto [below, rest] = split(node.left, key);
  node.left = rest;
  sum_up(node);
  return {below, tree};
}

template <class Measures>
void GapTree<Measures>::insert(const Entry& entry) {
  Link link = static_cast<Link>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    link = unused_.back();
    unused_.pop_back();
  }
  nodes_[link] = {entry, entry.measures, static_cast<std::uint32_t>(random_.next()), 0, 0};
  // Down to where its weight belongs. Few entries are below that, as a rule.
  Link* place = &root_;
  while (*place != 0 && nodes_[*place].weight > nodes_[link].weight) {
    Node& above = nodes_[*place];
    above.least = least_of(above.least, entry.measures);
    place = entry.key < above.entry.key ? &above.left : &above.right;
  }
  const auto [below, rest] = split(*place, entry.key);
  nodes_[link].left = below;
  nodes_[link].right = rest;
  sum_up(nodes_[link]);
  *place = link;
}

/// The tree without the entry of this key, which it must have.
template <class Measures>
auto GapTree<Measures>::without(Link tree, const QueueKey& key) -> Link {
  BERTH_CHECK(tree != 0);
  Node& node = nodes_[tree];
  if (node.entry.key == key) {
    unused_.push_back(tree);
    return merge(node.left, node.right);
  }
  Link& child = key < node.entry.key ? node.left : node.right;
  child = without(child, key);
  sum_up(node);
  return tree;
}

template <class Measures>
void GapTree<Measures>::update(Link tree, const QueueKey& key, const Measures& measures) {
  BERTH_CHECK(tree != 0);
  Node& node = nodes_[tree];
  if (node.entry.key == key) {
    node.entry.measures = measures;
  } else {
    update(key < node.entry.key ? node.left : node.right, key, measures);
  }
  sum_up(node);
}

template <class Measures>
bool GapTree<Measures>::contains(const QueueKey& key) const {
  Link at = root_;
  while (at != 0 && nodes_[at].entry.key != key) {
    at = nodes_[at].entry.key < key ? nodes_[at].right : nodes_[at].left;
  }
  return at != 0;
}

template <class Measures>
auto GapTree<Measures>::front() const -> const Entry& {
  Link at = root_;
  while (nodes_[at].left != 0) {
    at = nodes_[at].left;
  }
  return nodes_[at].entry;
}

template <class Measures>
template <class Gap>
auto GapTree<Measures>::find(Link tree, const Gap& gap) const -> Link {
  while (tree != 0 && gap.takes(nodes_[tree].least)) {
    const Node& node = nodes_[tree];
    if (const Link found = find(node.left, gap); found != 0) {
      return found;
    }
    if (gap.takes(node.entry.measures)) {
      return tree;
    }
    tree = node.right;
  }
  return 0;
}

template <class Measures>
template <class Gap>
auto GapTree<Measures>::find(Link tree, const QueueKey& after, const Gap& gap) const -> Link {
  while (tree != 0 && gap.takes(nodes_[tree].least)) {
    const Node& node = nodes_[tree];
    if (after < node.entry.key) {
      if (const Link found = find(node.left, after, gap); found != 0) {
        return found;
      }
      return gap.takes(node.entry.measures) ? tree : find(node.right, gap);
    }
    tree = node.right;
  }
  return 0;
}

}  // namespace berth
