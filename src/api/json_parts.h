// JsonParts: the members of a JSON object or the elements of an array, one after the other, as the
// text they stand in. It finds where they end and reads nothing: so a long text can be read part by
// part, and how much a part would take is known before it is read. What a part says may still be
// wrong; whoever reads it finds out. Borrows the text.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {

/// How far a value reaches, and what reading it would take.
struct JsonExtent {
  std::size_t end = 0;     // behind it; npos where it does not end
  std::size_t depth = 0;   // brackets within brackets
  std::size_t values = 0;  // in it, and itself
};
JsonExtent json_extent(std::string_view text, std::size_t begin);

class JsonParts {
 public:
  enum class Of { Object, Array };

  JsonParts(std::string_view text, Of of);

  /// Moves to the next part (the first one, at the start); false when there is none, or where
  /// something is wrong.
  bool next();
  /// After next() returned false: the text is no such object or array.
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
