#include "policy/backfill_tree.h"

#include <algorithm>

#include "base/check.h"

namespace berth {
namespace {

Measures least_of(const Measures& a, const Measures& b) {
  return {std::min(a.amount, b.amount), std::min(a.memory, b.memory), std::min(a.length, b.length)};
}
Duration least_of(Duration a, Duration b) { return std::min(a, b); }

}  // namespace

template <class Entry, class Gap>
void GapTree<Entry, Gap>::update(Node& node) const {
  node.least = node.entry.measures;
  for (const Link link : {node.left, node.right}) {
    if (link != 0) {
      node.least = least_of(node.least, nodes_[link].least);
    }
  }
}

template <class Entry, class Gap>
auto GapTree<Entry, Gap>::merge(Link a, Link b) -> Link {
  if (a == 0 || b == 0) {
    return a + b;
  }
  if (nodes_[a].weight > nodes_[b].weight) {
    nodes_[a].right = merge(nodes_[a].right, b);
    update(nodes_[a]);
    return a;
  }
  nodes_[b].left = merge(a, nodes_[b].left);
  update(nodes_[b]);
  return b;
}

template <class Entry, class Gap>
auto GapTree<Entry, Gap>::split(Link tree, const QueueKey& key) -> std::pair<Link, Link> {
  if (tree == 0) {
    return {0, 0};
  }
  Node& node = nodes_[tree];
  if (node.entry.key < key) {
    const auto [below, rest] = split(node.right, key);
    node.right = below;
    update(node);
    return {tree, rest};
  }
  const auto [below, rest] = split(node.left, key);
  node.left = rest;
  update(node);
  return {below, tree};
}

template <class Entry, class Gap>
void GapTree<Entry, Gap>::insert(const Entry& entry) {
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
  update(nodes_[link]);
  *place = link;
}

template <class Entry, class Gap>
void GapTree<Entry, Gap>::erase(const QueueKey& key) {
  root_ = without(root_, key);
}

/// The tree without the entry of this key, which it must have.
template <class Entry, class Gap>
auto GapTree<Entry, Gap>::without(Link tree, const QueueKey& key) -> Link {
  BERTH_CHECK(tree != 0);
  Node& node = nodes_[tree];
  if (node.entry.key == key) {
    unused_.push_back(tree);
    return merge(node.left, node.right);
  }
  Link& child = key < node.entry.key ? node.left : node.right;
  child = without(child, key);
  update(node);
  return tree;
}

template <class Entry, class Gap>
bool GapTree<Entry, Gap>::contains(const QueueKey& key) const {
  Link at = root_;
  while (at != 0 && nodes_[at].entry.key != key) {
    at = nodes_[at].entry.key < key ? nodes_[at].right : nodes_[at].left;
  }
  return at != 0;
}

template <class Entry, class Gap>
const Entry& GapTree<Entry, Gap>::front() const {
  Link at = root_;
  while (nodes_[at].left != 0) {
    at = nodes_[at].left;
  }
  return nodes_[at].entry;
}

template <class Entry, class Gap>
auto GapTree<Entry, Gap>::find(Link tree, const Gap& gap) const -> Link {
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

template <class Entry, class Gap>
auto GapTree<Entry, Gap>::find(Link tree, const QueueKey& after, const Gap& gap) const -> Link {
  while (tree != 0) {
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

template <class Entry, class Gap>
const Entry* GapTree<Entry, Gap>::first(const Gap& gap) const {
  const Link found = find(root_, gap);
  return found == 0 ? nullptr : &nodes_[found].entry;
}

template <class Entry, class Gap>
const Entry* GapTree<Entry, Gap>::first(const QueueKey& after, const Gap& gap) const {
  const Link found = find(root_, after, gap);
  return found == 0 ? nullptr : &nodes_[found].entry;
}

template class GapTree<BackfillEntry, Gap>;
template class GapTree<LengthEntry, LengthGap>;

}  // namespace berth
