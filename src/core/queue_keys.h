// QueueKeys: the places of waiting jobs in order. A million may be in one, most of them added at
// the end and taken from the front, so they stand in blocks, which cost little more than the keys
// themselves.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <vector>

#include "core/job.h"

namespace berth {

/// Where a waiting job stands; the smallest goes first.
struct QueueKey {
  Rank rank = 0;
  JobId job;

  friend constexpr auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

class QueueKeys {
  using Block = std::vector<QueueKey>;

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
    const_iterator(const std::vector<Block>& blocks, std::size_t block)
        : blocks_(&blocks), block_(block) {}

    reference operator*() const { return (*blocks_)[block_][at_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++at_ == (*blocks_)[block_].size()) {
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

  void insert(const QueueKey& key);
  /// Whether it was there.
  bool erase(const QueueKey& key);
  bool contains(const QueueKey& key) const;
  bool empty() const { return blocks_.empty(); }
  /// The first key. There must be one.
  const QueueKey& front() const { return blocks_.front().front(); }

  const_iterator begin() const { return {blocks_, 0}; }
  const_iterator end() const { return {blocks_, blocks_.size()}; }

 private:
  std::size_t block_of(const QueueKey& key) const;

  std::vector<Block> blocks_;  // none of them empty
};

}  // namespace berth
