// Permutation: the numbers from 0 to size - 1 in a random order that depends on the seed alone, and
// is the same on every machine. Takes constant memory: a sweep of 10^12 points can be shuffled.
// Immutable, usable from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace berth {

class Permutation {
 public:
  /// `size` is at least 1.
  Permutation(std::uint64_t size, std::uint64_t seed);

  /// The position to which `index` goes. `index` must be below size.
  std::uint64_t operator()(std::uint64_t index) const;

 private:
  std::uint64_t scramble(std::uint64_t value) const;

  std::uint64_t size_;
  /// For small sizes: a shuffled list, every order equally likely.
  std::vector<std::uint32_t> table_;
  /// For large sizes: a Feistel network over the next even number of bits, applied until the result
  /// is below size_. Each half has half_bits_ bits.
  unsigned half_bits_ = 0;
  std::array<std::uint64_t, 6> keys_{};
};

}  // namespace berth
