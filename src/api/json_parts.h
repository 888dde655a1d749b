// JsonParts: the members of a JSON object or the elements of an array, one after the other, as
// text. It finds where each part ends and does not parse it. So a long text can be parsed part by
// part, and the cost of a part is known before it is parsed. A part may still be wrong; its parser
// finds out. Borrows the text.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {

/// How far a value reaches, and the cost of parsing it.
struct JsonExtent {
  std::size_t end = 0;     // just past the value; npos if it does not end
  std::size_t depth = 0;   // brackets within brackets
  std::size_t values = 0;  // in it, including itself
};
JsonExtent json_extent(std::string_view text, std::size_t begin);

class JsonParts {
 public:
  enum class Of { Object, Array };

  JsonParts(std::string_view text, Of of);

  /// Moves to the next part (at the start, to the first one). False when there is none, or when the
  /// text is wrong.
  bool next();
  /// After next() returned false: the text is not such an object or array.
  bool failed() const { return failed_; }

  std::string_view key() const { return key_; }  // with its quotes; of an object
  std::string_view value() const { return value_; }
  const JsonExtent& extent() const { return extent_; }

 private:
  void skip_blanks();
  bool take(char c);
  bool take_value(std::string_view& part);
  bool fail();

  std::string_view text_;
  Of of_;
  std::size_t at_ = 0;
  bool first_ = true;
  bool failed_ = false;
  bool done_ = false;
  std::string_view key_;
  std::string_view value_;
  JsonExtent extent_;
};

}  // namespace berth
