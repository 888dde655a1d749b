// Lanes: two doubles that are calculated with at once, each with the same result as if it were
// alone. What ranks depend on is written once, for a double and for lanes.
#pragma once

#include <bit>
#include <cstdint>

namespace berth {

inline constexpr std::size_t kLanes = 2;
using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;

template <class Number>
struct BitsOf {
  using Type = std::uint64_t;
};
template <>
struct BitsOf<Lanes> {
  using Type [[gnu::vector_size(kLanes * sizeof(std::uint64_t))]] = std::uint64_t;
};

/// ln(1 + x) for x >= 0, off by less than 1e-15 of one or of itself. The same on every machine and
/// whatever stands beside it, which the C library does not promise of its own.
template <class Number>
Number log_of_one_and(const Number& x) {
  using Bits = typename BitsOf<Number>::Type;
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;  // the bits of the root of 1/2
  constexpr std::uint64_t kTwoTo52 = 0x4330000000000000;   // the bits of 2^52: below are integers
  // 1 + x is a power of two times a number between the root of 1/2 and that of 2.
  const Bits bits = std::bit_cast<Bits>(1.0 + x);
  const Bits exponent = (bits - kRootHalf) >> 52;
  const Number power = std::bit_cast<Number>(exponent | kTwoTo52) - 0x1p52;
  const Number near_one = std::bit_cast<Number>(bits - (exponent << 52));
  const Number s = (near_one - 1.0) / (near_one + 1.0);
  const Number z = s * s;
  Number sum = z * (1.0 / 21) + 1.0 / 19;
  sum = sum * z + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  return power * kLn2 + (2.0 * s + 2.0 * s * z * sum);
}

}  // namespace berth
