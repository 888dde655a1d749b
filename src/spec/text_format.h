// TextFormat: the part of a `{name:…}` after the colon, as Python's str.format reads it for a text:
// [[fill]align][0][width][.precision][s]. Immutable, usable from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class TextFormat {
 public:
  static Result<TextFormat> parse(std::string_view spec);

  /// Widths and precisions count characters, not bytes.
  std::string apply(std::string_view text) const;

 private:
  enum class Align { Left, Right, Centre };

  std::string fill_ = " ";
  Align align_ = Align::Left;
  std::size_t width_ = 0;
  std::optional<std::size_t> precision_;
};

}  // namespace berth
