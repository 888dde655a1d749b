// What several policies note about each owner, as the numbers of a checkpoint: the owner, and then
// N numbers. A double is stored as its bits.
#pragma once

#include <array>
#include <bit>
#include <limits>
#include <map>
#include <span>

#include "core/policy.h"

namespace berth {

inline std::int64_t bits_of(double value) { return std::bit_cast<std::int64_t>(value); }
inline double from_bits(std::int64_t bits) { return std::bit_cast<double>(bits); }

/// Adds each owner with the numbers that `numbers` makes of its value.
template <std::size_t N, class Value, class Numbers>
void add_owners(PolicyBooks& books, const std::map<OwnerId, Value>& owners, Numbers numbers) {
  for (const auto& [owner, value] : owners) {
    books.push_back(owner.value);
    const std::array<std::int64_t, N> own = numbers(value);
    books.insert(books.end(), own.begin(), own.end());
  }
}

/// Reads what add_owners() wrote; false when it makes no sense.
template <std::size_t N, class Value, class Make>
bool take_owners(std::span<const std::int64_t> books, std::map<OwnerId, Value>& owners, Make make) {
  if (books.size() % (N + 1) != 0) {
    return false;
  }
  owners.clear();
  for (; !books.empty(); books = books.subspan(N + 1)) {
    if (books[0] < 0 || books[0] > std::numeric_limits<std::uint32_t>::max()) {
      return false;
    }
    owners[OwnerId{static_cast<std::uint32_t>(books[0])}] = make(books.subspan(1).first(N));
  }
  return true;
}

}  // namespace berth
