// SearchText: a text to search for in other texts, ignoring case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

class SearchText {
 public:
  explicit SearchText(std::string_view text = {}) : text_(text) {
    std::transform(text_.begin(), text_.end(), text_.begin(), lower);
  }

  bool empty() const { return text_.empty(); }

  /// Ignores the case of the letters A to Z, and of no others.
  bool in(std::string_view text) const {
    return std::search(text.begin(), text.end(), text_.begin(), text_.end(),
                       [](char a, char b) { return lower(a) == b; }) != text.end();
  }

  bool is_number(std::uint64_t number) const { return std::to_string(number) == text_; }

 private:
  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

  std::string text_;
};

}  // namespace berth
