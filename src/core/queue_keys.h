// QueueKeys: the places of waiting jobs in order, and the first of them that is short enough. A
// million may be in one, most of them added at the end and taken from the front, so they stand in
// blocks, which cost little more than the keys themselves. The least length of each block is known,
// so that no search goes through all jobs.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <vector>

#include "core/job.h"
#include "core/least_tree.h"

namespace berth {

/// Where a waiting job stands; the smallest goes first.
struct QueueKey {
  Rank rank = 0;
  JobId job;

  friend constexpr auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

class QueueKeys {
 public:
  /// A waiting job, and how long it will run at most as far as anybody knows.
  struct Place {
    QueueKey key;
    Duration length{};
  };

 private:
  struct Block {
    std::vector<Place> places;
    Duration least = Duration::max();  // of their lengths
  };

 public:
  /// Valid until the next change.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = QueueKey;
    using difference_type = std::ptrdiff_t;
    using pointer = const QueueKey*;
    using reference = const QueueKey&;

    const_iterator() = default;
    const_iterator(const std::vector<Block>& blocks, std::size_t block, std::size_t at = 0)
        : blocks_(&blocks), block_(block), at_(at) {}

    reference operator*() const { return (*blocks_)[block_].places[at_].key; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++at_ == (*blocks_)[block_].places.size()) {
        at_ = 0;
        ++block_;
      }
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const const_iterator&, const const_iterator&) = default;

   private:
    const std::vector<Block>* blocks_ = nullptr;
    std::size_t block_ = 0;
    std::size_t at_ = 0;
  };

  void insert(const QueueKey& key, Duration length);
  /// Whether it was there.
  bool erase(const QueueKey& key);
  bool contains(const QueueKey& key) const;
  bool empty() const { return blocks_.empty(); }
  /// The first key. There must be one.
  const QueueKey& front() const { return blocks_.front().places.front().key; }
  /// The length of the shortest job. There must be a job.
  Duration least_length() const {
    return blocks_.size() == 1 ? blocks_.front().least : least_of_blocks().least();
  }
  /// The first job that is no longer than this; nullptr: none. Valid until the next change.
  const Place* first(Duration longest) const;

  /// The first that comes after this one.
  const_iterator behind(const QueueKey& key) const;

  const_iterator begin() const { return {blocks_, 0}; }
  const_iterator end() const { return {blocks_, blocks_.size()}; }

 private:
  std::size_t block_of(const QueueKey& key) const;
  void append(const Place& place);
  void split(std::size_t at);
  void set_least(std::size_t at, Duration least);
  const LeastTree<Duration>& least_of_blocks() const;

  std::vector<Block> blocks_;  // none of them empty
  /// The least length of each block, where there are several. Built when it is asked for: blocks
  /// may come by the thousand before that.
  mutable LeastTree<Duration> least_;
  mutable bool least_is_stale_ = true;
};

}  // namespace berth
