// Sizes and durations as people write them, and back.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace berth {

/// An amount of memory.
struct Bytes {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return a -= b; }
};

constexpr Bytes mebibytes(std::int64_t n) { return {n << 20}; }
constexpr Bytes gibibytes(std::int64_t n) { return {n << 30}; }

/// `8GiB`, `8 GiB`, `500MB`, `1.5G` (binary, like GiB), or 0. Never negative.
Result<Bytes> parse_bytes(std::string_view text);

/// `90s`, `10m`, `2h30m`, `1d`, `250ms`, or a plain number of seconds. Never negative.
Result<Duration> parse_duration(std::string_view text);

/// `6.0 GiB`, `512 MiB`: three digits at most before the unit changes.
std::string format_bytes(Bytes size);

/// `3.2s`, `4m05s`, `2h30m`, `1d04h`: at most two units.
std::string format_duration(Duration length);

/// The whole of `text` as a number, or an error naming `what`.
Result<std::int64_t> parse_integer(std::string_view text, std::string_view what);
Result<double> parse_real(std::string_view text, std::string_view what);

}  // namespace berth
