#include "spec/sweep_order.h"

#include <bit>
#include <numeric>

#include "base/check.h"
#include "base/random.h"

namespace berth {
namespace {

// A network of few bits reaches only some of the orders, and the small sweeps are the ones that
// people look at; up to here the list costs 256 KiB at most.
constexpr std::uint64_t kLargestTable = 65536;

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed) : size_(size) {
  BERTH_CHECK(size > 0);
  Random random(seed);
  if (size <= kLargestTable) {
    table_.resize(size);
    std::iota(table_.begin(), table_.end(), 0U);
    random.shuffle(table_);
    return;
  }
  half_bits_ = (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2;
  for (std::uint64_t& key : keys_) {
    key = random.next();
  }
}

std::uint64_t Permutation::scramble(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t mixed = left ^ (Random(key ^ right).next() & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  if (!table_.empty()) {
    return table_[index];
  }
  // At most 4 * size numbers take part, so this ends after four rounds on average; and it ends,
  // because the walk is on a cycle that contains `index` itself.
  std::uint64_t value = scramble(index);
  while (value >= size_) {
    value = scramble(value);
  }
  return value;
}

}  // namespace berth
