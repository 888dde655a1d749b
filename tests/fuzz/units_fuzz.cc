// Sizes and durations: any text parses or is refused, and what berth prints, berth reads back as
// about the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/units.h"

namespace {

using namespace berth;

/// Within what is lost by showing few digits: `part` of the whole, or the smallest step, `least`.
bool is_near(double a, double b, double part, double least) {
  return std::abs(a - b) <= least + part * std::abs(a);
}

void check_bytes(Bytes size) {
  const std::string text = format_bytes(size);
  // The last half TiB is shown as 2^63 bytes, one more than there can be.
  if (size.count < 0 || size.count > std::int64_t{8388607} << 40) {
    return;
  }
  const Result<Bytes> back = parse_bytes(text);
  BERTH_CHECK(back.has_value());
  // Below a GiB there are no fractions: 1.5 MiB is shown as 2.
  BERTH_CHECK(is_near(static_cast<double>(size.count), static_cast<double>(back->count), 0.5, 1));
}

void check_duration(Duration length) {
  const std::string text = format_duration(length);
  if (length < Duration(0)) {
    return;
  }
  const Result<Duration> back = parse_duration(text);
  BERTH_CHECK(back.has_value());
  BERTH_CHECK(is_near(to_seconds(length), to_seconds(*back), 0.05, 0.05001));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Result<Bytes> bytes = parse_bytes(text)) {
    BERTH_CHECK(bytes->count >= 0);
    check_bytes(*bytes);
  }
  if (const Result<Duration> length = parse_duration(text)) {
    BERTH_CHECK(*length >= Duration(0));
    check_duration(*length);
  }
  (void)parse_integer(text, "x").has_value();
  (void)parse_real(text, "x").has_value();
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size && i < 8; ++i) {
    number = number << 8 | data[i];
  }
  check_bytes(Bytes{static_cast<std::int64_t>(number)});
  check_duration(Duration(static_cast<std::int64_t>(number)));
  return 0;
}
