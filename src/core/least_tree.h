// LeastTree: a row of numbers, and the first of them that is no larger than another. Each node of a
// binary tree over the row has the least of its half.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

namespace berth {

template <class Value>
class LeastTree {
 public:
  /// The row is `value_at(0)` to `value_at(count - 1)` from here on.
  template <class ValueAt>
  void build(std::size_t count, ValueAt value_at) {
    leaves_ = std::bit_ceil(std::max<std::size_t>(count, 1));
    nodes_.assign(2 * leaves_, Value::max());
    for (std::size_t i = 0; i < count; ++i) {
      nodes_[leaves_ + i] = value_at(i);
    }
    for (std::size_t i = leaves_ - 1; i > 0; --i) {
      nodes_[i] = std::min(nodes_[2 * i], nodes_[2 * i + 1]);
    }
  }
  /// How many numbers there is room for; set() takes any place below that.
  std::size_t room() const { return leaves_; }
  void set(std::size_t at, Value value) {
    nodes_[leaves_ + at] = value;
    for (std::size_t i = (leaves_ + at) / 2; i > 0; i /= 2) {
      const Value least = std::min(nodes_[2 * i], nodes_[2 * i + 1]);
      if (nodes_[i] == least) {
        return;
      }
      nodes_[i] = least;
    }
  }

  Value least() const { return nodes_[1]; }
  /// Where the first number stands that is at most `most`. There must be one.
  std::size_t first(Value most) const {
    std::size_t at = 1;
    while (at < leaves_) {
      at = nodes_[2 * at] <= most ? 2 * at : 2 * at + 1;
    }
    return at - leaves_;
  }

 private:
  std::size_t leaves_ = 0;
  std::vector<Value> nodes_;  // the root is 1, the children of i are 2 i and 2 i + 1
};

}  // namespace berth
