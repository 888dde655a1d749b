// The byte strings inside rows: numbers of variable length and strings with their length. The
// formats built from them are in docs/formats.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

class Encoder {
 public:
  /// Seven bits a byte, the lowest first.
  Encoder& number(std::uint64_t value);
  /// Zigzag: small numbers of either sign are short.
  Encoder& integer(std::int64_t value);
  Encoder& text(std::string_view value);
  Encoder& list(const std::vector<std::string>& values);
  Encoder& map(const std::map<std::string, std::string>& values);

  /// Appends what another Encoder has written.
  Encoder& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what an Encoder wrote. Past the end or on invalid bytes, every read gives an empty value,
/// and failed() is true from then on.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  std::int64_t integer();
  /// A number that must be at most `most`.
  std::uint64_t number_up_to(std::uint64_t most);
  /// Numbers of 32 and of 16 bits.
  std::uint32_t word() { return static_cast<std::uint32_t>(number_up_to(UINT32_MAX)); }
  std::uint16_t half_word() { return static_cast<std::uint16_t>(number_up_to(UINT16_MAX)); }
  std::string_view text();
  std::vector<std::string> list();
  std::map<std::string, std::string> map();

  bool at_end() const { return rest_.empty(); }
  bool failed() const { return failed_; }

 private:
  void give_up() {
    failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  bool failed_ = false;
};

/// FNV-1a. It is on disk: it must never change.
std::uint64_t content_hash(std::string_view content);

}  // namespace berth
