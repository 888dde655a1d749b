#include "store/coding.h"

namespace berth {

Encoder& Encoder::number(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
  return *this;
}

Encoder& Encoder::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return number((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

Encoder& Encoder::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
  return *this;
}

Encoder& Encoder::list(const std::vector<std::string>& values) {
  number(values.size());
  for (const std::string& value : values) {
    text(value);
  }
  return *this;
}

Encoder& Encoder::map(const std::map<std::string, std::string>& values) {
  number(values.size());
  for (const auto& [key, value] : values) {
    text(key).text(value);
  }
  return *this;
}

std::uint64_t Decoder::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) {
      break;
    }
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  give_up();
  return 0;
}

std::int64_t Decoder::integer() {
  const std::uint64_t value = number();
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}

std::uint64_t Decoder::number_up_to(std::uint64_t most) {
  const std::uint64_t value = number();
  if (value > most) {
    give_up();
    return 0;
  }
  return value;
}

std::string_view Decoder::text() {
  const std::uint64_t size = number();
  if (size > rest_.size()) {
    give_up();
    return {};
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

std::vector<std::string> Decoder::list() {
  std::vector<std::string> values;
  // Every element takes a byte at least, so a wild count ends by itself.
  for (std::uint64_t left = number(); left > 0 && !failed_; --left) {
    values.emplace_back(text());
  }
  return values;
}

std::map<std::string, std::string> Decoder::map() {
  std::map<std::string, std::string> values;
  for (std::uint64_t left = number(); left > 0 && !failed_; --left) {
    const std::string_view key = text();
    values.insert_or_assign(std::string(key), std::string(text()));
  }
  return values;
}

std::uint64_t content_hash(std::string_view content) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : content) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace berth
