// Template: a command with `{name}` where a parameter's value goes; `{{` and `}}` are braces. As in
// Python, a format may follow the name: `{name:>5}`.
// Immutable, usable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/param.h"
#include "spec/text_format.h"

namespace berth {

class Template {
 public:
  /// Every placeholder must name one of `params`. Line ends at the end of `text` are dropped: a
  /// command that was written as a block in a file is still one line.
  static Result<Template> parse(std::string_view text, std::span<const Param> params);

  /// Whether the parameter at this index of `params` occurs.
  bool uses(std::size_t param) const;

  /// `values` has one value for each of the parameters, in their order.
  std::string expand(std::span<const ParamValue> values) const;

 private:
  /// A literal text and, except at the end, the parameter whose value follows it.
  struct Piece {
    std::string literal;
    std::optional<std::size_t> param;
    std::optional<TextFormat> format;
  };

  std::vector<Piece> pieces_;
};

}  // namespace berth
