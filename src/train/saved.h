// Numbers as text, for checkpoints: one in a line, doubles by their bits, so that training goes on
// exactly where it was. A reader never fails loudly: it turns bad, and gives zeros from then on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth {

class SavedWriter {
 public:
  void whole(std::uint64_t number);
  void real(double number);
  void reals(std::span<const double> numbers);
  /// With its length before it.
  void text(std::string_view words);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class SavedReader {
 public:
  explicit SavedReader(std::string_view text) : text_(text) {}

  std::uint64_t whole();
  /// Bad where it is larger.
  std::uint64_t whole_up_to(std::uint64_t most);
  /// Finite, unless infinity is what is wanted.
  double real(bool may_be_infinite = false);
  void reals(std::span<double> numbers);
  std::string_view text();

  bool is_good() const { return good_; }
  /// Good, and nothing is left.
  bool is_done() const { return good_ && text_.empty(); }

 private:
  std::uint64_t number(int base);

  std::string_view text_;
  bool good_ = true;
};

}  // namespace berth
