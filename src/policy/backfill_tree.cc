#include "policy/backfill_tree.h"

#include <algorithm>

#include "base/check.h"

namespace berth {
namespace {

Measures least_of(const Measures& a, const Measures& b) {
  return {std::min(a.amount, b.amount), std::min(a.memory, b.memory), std::min(a.length, b.length)};
}

}  // namespace

void BackfillTree::update(Node& node) const {
  node.least = node.entry.measures;
  for (const Link link : {node.left, node.right}) {
    if (link != 0) {
      node.least = least_of(node.least, nodes_[link].least);
    }
  }
}

BackfillTree::Link BackfillTree::merge(Link a, Link b) {
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

std::pair<BackfillTree::Link, BackfillTree::Link> BackfillTree::split(Link tree,
                                                                      const QueueKey& key) {
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

void BackfillTree::insert(const Entry& entry) {
  Link link = static_cast<Link>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    link = unused_.back();
    unused_.pop_back();
  }
  nodes_[link] = {entry, entry.measures, random_.next(), 0, 0};
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

void BackfillTree::erase(const QueueKey& key) { root_ = without(root_, key); }

/// The tree without the entry of this key, which it must have.
BackfillTree::Link BackfillTree::without(Link tree, const QueueKey& key) {
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

bool BackfillTree::contains(const QueueKey& key) const {
  Link at = root_;
  while (at != 0 && nodes_[at].entry.key != key) {
    at = nodes_[at].entry.key < key ? nodes_[at].right : nodes_[at].left;
  }
  return at != 0;
}

BackfillTree::Link BackfillTree::find(Link tree, const QueueKey& after, const Gap& gap) const {
  if (tree == 0) {
    return 0;
  }
  const Node& node = nodes_[tree];
  if (!gap.takes(node.least)) {
    return 0;
  }
  if (after < node.entry.key) {
    if (const Link found = find(node.left, after, gap); found != 0) {
      return found;
    }
    if (gap.takes(node.entry.measures)) {
      return tree;
    }
  }
  return find(node.right, after, gap);
}

const BackfillTree::Entry* BackfillTree::first(const QueueKey& after, const Gap& gap) const {
  const Link found = find(root_, after, gap);
  return found == 0 ? nullptr : &nodes_[found].entry;
}

}  // namespace berth
