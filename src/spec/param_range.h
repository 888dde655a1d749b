// The ranges that a sweep parameter can take its values from, as lazy lists: a range of 10^12
// values takes no memory. Plain values, usable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/random.h"
#include "base/result.h"

namespace berth {

/// `1..10`, `1..10..2`, `10..1`: both ends count when the steps meet them.
struct IntegerRange {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::uint64_t count = 1;

  std::int64_t at(std::uint64_t index) const;
};

/// `pow2:16..256`.
struct PowerRange {
  std::uint32_t first_exponent = 0;
  std::uint64_t count = 1;

  std::int64_t at(std::uint64_t index) const;
};

/// `lin:0..1/11`, `log:1e-5..1e-1/5`, `0..1..0.25`. Without a count (`uniform:0..1`,
/// `log:1e-5..1e-1`), it is a continuous range, which can only be sampled.
struct RealRange {
  double first = 0;
  double last = 0;
  bool logarithmic = false;
  std::optional<std::uint64_t> count;

  /// Rounded to what a person would have written: no 0.30000000000000004.
  double at(std::uint64_t index) const;
  double sample(Random& random) const;

 private:
  double between(double part, int digits) const;
};

using Range = std::variant<IntegerRange, PowerRange, RealRange>;

/// Whether `text` is meant as a range; otherwise it is a plain value.
bool looks_like_range(std::string_view text);

Result<Range> parse_range(std::string_view text);

/// `value` as Python would print it, but 1 instead of 1.0.
std::string format_real(double value);

/// The finite number that the whole of `text` spells, if any.
std::optional<double> number_in(std::string_view text);

}  // namespace berth
