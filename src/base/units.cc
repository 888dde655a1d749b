#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace berth {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kSizeUnits = {
    Unit{"B", 1.0},
    Unit{"kB", 1e3},
    Unit{"KB", 1e3},
    Unit{"MB", 1e6},
    Unit{"GB", 1e9},
    Unit{"TB", 1e12},
    Unit{"KiB", 1024.0},
    Unit{"MiB", 1048576.0},
    Unit{"GiB", 1073741824.0},
    Unit{"TiB", 1099511627776.0},
    Unit{"K", 1024.0},
    Unit{"M", 1048576.0},
    Unit{"G", 1073741824.0},
    Unit{"T", 1099511627776.0},
};

constexpr std::array kTimeUnits = {
    Unit{"ms", 1e6},   Unit{"s", 1e9},         Unit{"m", 60e9},
    Unit{"h", 3600e9}, Unit{"d", 24 * 3600e9}, Unit{"w", 7 * 24 * 3600e9},
};

template <std::size_t N>
const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return &unit;
    }
  }
  return nullptr;
}

/// Takes a decimal number off the front of `text`; false where there is none.
bool take_number(std::string_view& text, double& number) {
  // from_chars would also take "inf", "nan" and "-1": a size or a time starts with a digit.
  if (text.empty() || ((text.front() < '0' || text.front() > '9') && text.front() != '.')) {
    return false;
  }
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::string_view take_letters(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() &&
         ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z'))) {
    ++n;
  }
  const std::string_view letters = text.substr(0, n);
  text.remove_prefix(n);
  return letters;
}

// The largest double below 2^63: what a count can hold without overflow.
constexpr double kLargest = 9223372036854774784.0;

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  double number = 0;
  if (take_number(rest, number)) {
    if (rest.starts_with(' ')) {
      rest.remove_prefix(1);  // format_bytes puts one there
    }
    const std::string_view name = take_letters(rest);
    if (name.empty() && rest.empty() && number == 0) {
      return Bytes{};
    }
    if (name.empty() && rest.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{0}' has no unit: write {0}GiB or {0}MiB", text));
    }
    const Unit* unit = find_unit(kSizeUnits, name);
    if (unit != nullptr && rest.empty() && number * unit->factor <= kLargest) {
      return Bytes{static_cast<std::int64_t>(std::llround(number * unit->factor))};
    }
  }
  return fail(ErrorCode::Usage,
              fmt::format("'{}' is not a size: write 8GiB or 500MB", text));
}

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  double total = 0;
  bool any = false;
  while (!rest.empty()) {
    double number = 0;
    if (!take_number(rest, number)) {
      any = false;
      break;
    }
    const std::string_view name = take_letters(rest);
    if (name.empty() && (any || !rest.empty())) {
      any = false;
      break;
    }
    const Unit* unit = find_unit(kTimeUnits, name.empty() ? "s" : name);
    if (unit == nullptr) {
      any = false;
      break;
    }
    total += number * unit->factor;
    any = true;
  }
  if (!any || total > kLargest) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is not a duration: write 90s, 10m, 2h30m or 1d", text));
  }
  return Duration(std::llround(total));
}

std::string format_bytes(Bytes size) {
  static constexpr std::array<std::string_view, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  // As a real number: the smallest integer has no positive counterpart.
  auto value = std::abs(static_cast<double>(size.count));
  std::size_t unit = 0;
  while (unit + 1 < kNames.size() && value >= 999.5) {
    value /= 1024;
    ++unit;
  }
  const bool whole = unit < 3 || value >= 99.95;
  return fmt::format("{}{:.{}f} {}", size.count < 0 ? "-" : "", value, whole ? 0 : 1, kNames[unit]);
}

std::string format_duration(Duration length) {
  const double seconds = std::abs(to_seconds(length));
  const std::string_view sign = length < Duration(0) ? "-" : "";
  if (seconds < 59.95) {
    return fmt::format("{}{:.1f}s", sign, seconds);
  }
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) {
    return fmt::format("{}{}m{:02}s", sign, whole / 60, whole % 60);
  }
  if (whole < 86400) {
    return fmt::format("{}{}h{:02}m", sign, whole / 3600, whole % 3600 / 60);
  }
  return fmt::format("{}{}d{:02}h", sign, whole / 86400, whole % 86400 / 3600);
}

Result<std::int64_t> parse_integer(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::Usage, fmt::format("{} must be a whole number, not '{}'", what, text));
  }
  return value;
}

Result<double> parse_real(std::string_view text, std::string_view what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return fail(ErrorCode::Usage, fmt::format("{} must be a number, not '{}'", what, text));
  }
  return value;
}

}  // namespace berth
