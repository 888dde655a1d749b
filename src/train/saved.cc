#include "train/saved.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/text.h"

namespace berth {

void SavedWriter::whole(std::uint64_t number) {
  fmt::format_to(std::back_inserter(text_), "{}\n", number);
}
void SavedWriter::real(double number) {
  fmt::format_to(std::back_inserter(text_), "{:016x}\n", std::bit_cast<std::uint64_t>(number));
}
void SavedWriter::reals(std::span<const double> numbers) {
  for (const double number : numbers) {
    real(number);
  }
}
void SavedWriter::text(std::string_view words) {
  whole(words.size());
  text_ += words;
}

std::uint64_t SavedReader::number(int base) {
  const std::string_view line = take_until(text_, '\n');
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, base);
  good_ = good_ && error == std::errc{} && end == line.data() + line.size();
  return good_ ? value : 0;
}

std::uint64_t SavedReader::whole() { return number(10); }

std::uint64_t SavedReader::whole_up_to(std::uint64_t most) {
  const std::uint64_t value = whole();
  good_ = good_ && value <= most;
  return good_ ? value : 0;
}

double SavedReader::real(bool may_be_infinite) {
  const auto value = std::bit_cast<double>(number(16));
  good_ = good_ && (may_be_infinite ? !std::isnan(value) : std::isfinite(value));
  return good_ ? value : 0;
}

void SavedReader::reals(std::span<double> numbers) {
  for (double& each : numbers) {
    each = real();
  }
}

std::string_view SavedReader::text() {
  const std::uint64_t size = whole_up_to(text_.size());
  const std::string_view words = text_.substr(0, std::min<std::size_t>(size, text_.size()));
  text_.remove_prefix(words.size());
  return words;
}

}  // namespace berth
