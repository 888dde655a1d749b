// Param: one parameter of a sweep, its name and the values it takes. A plain value, usable from any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "spec/param_range.h"

namespace berth {

/// One value: the text that goes into the command, and the number that it spells, if any.
struct ParamValue {
  std::string text;
  std::optional<double> number;
};

class Param {
 public:
  /// The values as they are written; at least one.
  static Result<Param> listed(std::string_view name, std::span<const std::string> values);

  /// A range if `text` looks like one, otherwise one plain value.
  static Result<Param> single(std::string_view name, std::string_view text);

  /// Parses the text after `NAME=`: a range or values between commas.
  static Result<Param> parse(std::string_view name, std::string_view text);

  const std::string& name() const { return name_; }

  /// The number of values; nothing for a continuous range, which can only be sampled.
  std::optional<std::uint64_t> size() const;

  /// The value at `index`, which must be below size().
  ParamValue at(std::uint64_t index) const;

  /// Any value of a continuous range.
  ParamValue sample(Random& random) const;

  /// Whether every value is a number, so that constraints can calculate with it.
  bool is_numeric() const;

 private:
  using Values = std::vector<ParamValue>;

  Param(std::string_view name, std::variant<Values, Range> values)
      : name_(name), values_(std::move(values)) {}

  std::string name_;
  std::variant<Values, Range> values_;
};

/// Whether `NAME VALUE` with a single value that looks like a range means that range.
enum class LoneValue { MayBeRange, IsLiteral };

/// The words of one `-p`: `NAME VALUE…`, or one or more of `NAME=VALUES`.
Result<std::vector<Param>> parse_param_words(std::span<const std::string_view> words,
                                             LoneValue lone);

}  // namespace berth
