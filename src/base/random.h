// A seeded generator that gives the same numbers on every machine. The standard library's
// distributions do not promise that, so the few that berth needs are here.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace berth {

/// splitmix64: small, fast, and good enough for shuffles and simulations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// A generator that begins with this seed continues the sequence of this one.
  std::uint64_t state() const { return state_; }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound); bound must not be 0. Unbiased: draws again in the short tail.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t tail = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t x = next();
      if (x >= tail) {
        return x % bound;
      }
    }
  }

  /// Uniform in [0, 1), with 53 random bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t n = items.size(); n > 1; --n) {
      std::swap(items[n - 1], items[below(n)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace berth
