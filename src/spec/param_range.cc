#include "spec/param_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/units.h"

namespace berth {
namespace {

// Grid points are exact decimals in the user's head (0.1, 0.2, 0.3), samples are arbitrary: the
// first keep more digits than their arithmetic error, the second only as many as anyone reads.
constexpr int kPointDigits = 12;
constexpr int kSampleDigits = 6;
constexpr int kMostDigits = 17;

double round_to_digits(double value, int digits) {
  std::array<char, 64> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::general, digits);
  double rounded = value;
  std::from_chars(buffer.data(), written.ptr, rounded);
  return rounded;
}

/// A narrow range far from 0 needs more digits to tell its points apart.
int digits_for(int wanted, double first, double last) {
  const double width = std::abs(last - first);
  const double largest = std::max(std::abs(first), std::abs(last));
  if (width == 0) {
    return kMostDigits;
  }
  const int more = std::max(0, static_cast<int>(std::floor(std::log10(largest / width))));
  return std::min(wanted + more, kMostDigits);
}

struct Ends {
  std::string_view first;
  std::string_view last;
  std::string_view step;  // of `a..b..step`
};

std::optional<Ends> split_ends(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos) {
    return std::nullopt;
  }
  Ends ends{text.substr(0, dots), text.substr(dots + 2), {}};
  if (const std::size_t more = ends.last.find(".."); more != ends.last.npos) {
    ends.step = ends.last.substr(more + 2);
    ends.last = ends.last.substr(0, more);
    if (ends.step.empty()) {
      return std::nullopt;
    }
  }
  return ends;
}

Failure bad_range(std::string_view text, std::string_view why) {
  return fail(ErrorCode::Usage, fmt::format("the range '{}' {}", text, why));
}

constexpr std::string_view kShapes =
    "is not understood: write 1..10, 1..10..2, 0..1..0.25, lin:0..1/11, log:1e-5..1e-1/5, "
    "uniform:0..1 or pow2:16..256";

/// How far `b` is from `a`; never overflows.
std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
               : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

Result<Range> integer_range(std::string_view text, std::int64_t first, std::int64_t last,
                            std::int64_t step) {
  const std::uint64_t stride = distance(0, step);
  if (step == 0) {
    return bad_range(text, "has a step of 0");
  }
  if (stride > static_cast<std::uint64_t>(INT64_MAX)) {
    return bad_range(text, "has too large a step");
  }
  const std::uint64_t steps = distance(first, last) / stride;
  if (steps == UINT64_MAX) {
    return bad_range(text, "has too many values");
  }
  // The ends say which way to go, as in the shell's {10..1..3}: only the step's size counts.
  const auto signed_stride = static_cast<std::int64_t>(stride);
  return Range(IntegerRange{first, first <= last ? signed_stride : -signed_stride, steps + 1});
}

Result<Range> stepped_range(std::string_view text, double first, double last, double step) {
  const double steps = std::abs(last - first) / std::abs(step);
  // Beyond 2^53 neighbouring points are no longer apart.
  if (!(steps < 0x1p53)) {
    return bad_range(text, "has too many values");
  }
  // Ten steps of 0.1 reach 1, whatever the binary fractions say.
  const double whole = std::floor(steps * (1 + 1e-12) + 1e-9);
  const double reached = first + std::copysign(step, last - first) * whole;
  const double end = round_to_digits(reached, digits_for(kPointDigits, first, last));
  return Range(RealRange{first, end, false, static_cast<std::uint64_t>(whole) + 1});
}

Result<Range> plain_range(std::string_view text) {
  const std::optional<Ends> ends = split_ends(text);
  if (!ends) {
    return bad_range(text, kShapes);
  }
  const auto first = parse_integer(ends->first, "");
  const auto last = parse_integer(ends->last, "");
  const auto step = parse_integer(ends->step.empty() ? "1" : ends->step, "");
  if (first && last && step) {
    return integer_range(text, *first, *last, *step);
  }
  const auto real_first = number_in(ends->first);
  const auto real_last = number_in(ends->last);
  const auto real_step = number_in(ends->step);
  if (!real_first || !real_last || (!real_step && !ends->step.empty())) {
    return bad_range(text, kShapes);
  }
  if (!real_step) {
    return bad_range(text, fmt::format("of fractions needs a step ({}..0.1) or a count (lin:{}/11)",
                                       text, text));
  }
  return *real_step == 0 ? bad_range(text, "has a step of 0")
                         : stepped_range(text, *real_first, *real_last, *real_step);
}

Result<Range> real_range(std::string_view text, std::string_view body, bool logarithmic) {
  RealRange range;
  range.logarithmic = logarithmic;
  if (const std::size_t slash = body.find('/'); slash != body.npos) {
    const auto count = parse_integer(body.substr(slash + 1), "");
    if (!count || *count < 1) {
      return bad_range(text, "needs a whole number of points, at least 1, after the '/'");
    }
    range.count = static_cast<std::uint64_t>(*count);
    body = body.substr(0, slash);
  }
  const std::optional<Ends> ends = split_ends(body);
  const auto first = number_in(ends ? ends->first : "");
  const auto last = number_in(ends ? ends->last : "");
  if (!first || !last || !ends->step.empty()) {
    return bad_range(text, kShapes);
  }
  range.first = *first;
  range.last = *last;
  if (logarithmic && (range.first <= 0 || range.last <= 0)) {
    return bad_range(text, "is logarithmic: both ends must be above 0");
  }
  if (range.first == range.last) {
    return bad_range(text, "begins where it ends");
  }
  if (!std::isfinite(range.last - range.first)) {
    return bad_range(text, "is too wide");
  }
  return Range(range);
}

Result<Range> power_range(std::string_view text, std::string_view body) {
  const std::optional<Ends> ends = split_ends(body);
  const auto first = parse_integer(ends ? ends->first : "", "");
  const auto last = parse_integer(ends ? ends->last : "", "");
  if (!first || !last || !ends->step.empty()) {
    return bad_range(text, kShapes);
  }
  if (*first < 1 || *last < *first) {
    return bad_range(text, "must go up from 1 or more");
  }
  const auto low = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*first) - 1));
  const auto high = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*last))) - 1;
  if (low > high) {
    return bad_range(text, "has no power of two in it");
  }
  return Range(
      PowerRange{static_cast<std::uint32_t>(low), static_cast<std::uint64_t>(high - low + 1)});
}

/// What follows `prefix` at the front of `text`.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
}

}  // namespace

std::int64_t IntegerRange::at(std::uint64_t index) const {
  // Unsigned, because index * step may pass through values that a signed number cannot hold.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                   index * static_cast<std::uint64_t>(step));
}

std::int64_t PowerRange::at(std::uint64_t index) const {
  return std::int64_t{1} << (first_exponent + index);
}

double RealRange::between(double part, int digits) const {
  const double exact = logarithmic ? std::exp(std::lerp(std::log(first), std::log(last), part))
                                   : std::lerp(first, last, part);
  if (!logarithmic && std::abs(exact) < std::abs(last - first) * 1e-14) {
    return 0;  // the middle of -0.3..0.3, which arithmetic puts at 5e-17
  }
  const double rounded = round_to_digits(exact, digits_for(digits, first, last));
  return std::clamp(rounded, std::min(first, last), std::max(first, last));
}

double RealRange::at(std::uint64_t index) const {
  const std::uint64_t intervals = *count - 1;
  if (index == 0) {
    return first;
  }
  if (index == intervals) {
    return last;
  }
  return between(static_cast<double>(index) / static_cast<double>(intervals), kPointDigits);
}

double RealRange::sample(Random& random) const { return between(random.unit(), kSampleDigits); }

bool looks_like_range(std::string_view text) {
  for (const std::string_view prefix : {"log:", "lin:", "uniform:", "pow2:"}) {
    if (text.starts_with(prefix)) {
      return true;
    }
  }
  const std::size_t dots = text.find("..");
  return dots != text.npos && number_in(text.substr(0, dots)).has_value();
}

Result<Range> parse_range(std::string_view text) {
  if (const auto body = after(text, "log:")) {
    return real_range(text, *body, true);
  }
  // Two names for one thing: one reads better with a count, the other without.
  for (const std::string_view prefix : {"lin:", "uniform:"}) {
    if (const auto body = after(text, prefix)) {
      return real_range(text, *body, false);
    }
  }
  if (const auto body = after(text, "pow2:")) {
    return power_range(text, *body);
  }
  return plain_range(text);
}

std::string format_real(double value) { return fmt::format("{}", value); }

std::optional<double> number_in(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  const auto number = parse_real(text, "");
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace berth
