#include "spec/text_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

/// Far more than a command line can hold.
constexpr std::size_t kWidest = 100'000;

/// The length of the character that `text` begins with.
std::size_t character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
    ++size;
  }
  return size;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool is_align(std::string_view text) {
  return !text.empty() && (text[0] == '<' || text[0] == '>' || text[0] == '^' || text[0] == '=');
}

/// Takes the digits off the front.
Result<std::optional<std::size_t>> take_number(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  std::size_t number = 0;
  for (const char digit : text.substr(0, size)) {
    number = number * 10 + static_cast<std::size_t>(digit - '0');
    if (number > kWidest) {
      return fail(ErrorCode::Usage, fmt::format("a width of more than {}", kWidest));
    }
  }
  text.remove_prefix(size);
  return size == 0 ? std::optional<std::size_t>() : std::optional(number);
}

}  // namespace

Result<TextFormat> TextFormat::parse(std::string_view spec) {
  TextFormat format;
  std::string_view rest = spec;
  char align = '<';
  if (const std::size_t fill = rest.empty() ? 0 : character_size(rest);
      fill > 0 && is_align(rest.substr(fill))) {
    format.fill_ = rest.substr(0, fill);
    align = rest[fill];
    rest.remove_prefix(fill + 1);
  } else if (is_align(rest)) {
    align = rest[0];
    rest.remove_prefix(1);
  }
  if (align == '=') {
    return fail(ErrorCode::Usage, "'=' aligns numbers only, and values are texts");
  }
  format.align_ = align == '<' ? Align::Left : align == '>' ? Align::Right : Align::Centre;
  if (rest.starts_with('0') && format.fill_ == " ") {
    format.fill_ = "0";
  }
  const Result<std::optional<std::size_t>> width = take_number(rest);
  if (!width) {
    return Failure(width.error());
  }
  format.width_ = width->value_or(0);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const Result<std::optional<std::size_t>> precision = take_number(rest);
    if (!precision || !*precision) {
      return fail(ErrorCode::Usage, "a number must follow the '.'");
    }
    format.precision_ = **precision;
  }
  if (rest.starts_with('s')) {
    rest.remove_prefix(1);
  }
  if (!rest.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is no format of a text: [[fill]align][width][.precision]", spec));
  }
  return format;
}

std::string TextFormat::apply(std::string_view text) const {
  if (precision_) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < *precision_ && end < text.size(); ++i) {
      end += character_size(text.substr(end));
    }
    text = text.substr(0, end);
  }
  const std::size_t size = characters_in(text);
  const std::size_t missing = width_ > size ? width_ - size : 0;
  const std::size_t before = align_ == Align::Left    ? 0
                             : align_ == Align::Right ? missing
                                                      : missing / 2;
  std::string result;
  for (std::size_t i = 0; i < before; ++i) {
    result += fill_;
  }
  result += text;
  for (std::size_t i = before; i < missing; ++i) {
    result += fill_;
  }
  return result;
}

}  // namespace berth
