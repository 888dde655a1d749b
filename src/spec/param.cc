#include "spec/param.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "spec/sweep_text.h"

namespace berth {
namespace {

ParamValue integer_value(std::int64_t number) {
  return {fmt::format("{}", number), static_cast<double>(number)};
}

ParamValue real_value(double number) { return {format_real(number), number}; }

Result<void> check_name(std::string_view name) {
  if (is_param_name(name)) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("'{}' is not a parameter name: letters, digits, '_', '-' and '.', "
                          "beginning with a letter",
                          name));
}

Failure in_param(std::string_view name, const Error& error) {
  return fail(error.code, fmt::format("parameter '{}': {}", name, error.message));
}

}  // namespace

Result<Param> Param::listed(std::string_view name, std::span<const std::string> values) {
  if (const auto good = check_name(name); !good) {
    return Failure(good.error());
  }
  if (values.empty()) {
    return fail(ErrorCode::Usage, fmt::format("parameter '{}' has no values", name));
  }
  Values known;
  known.reserve(values.size());
  for (const std::string& value : values) {
    known.push_back({value, number_in(value)});
  }
  return Param(name, std::move(known));
}

Result<Param> Param::single(std::string_view name, std::string_view text) {
  if (!looks_like_range(text)) {
    return listed(name, std::vector{std::string(text)});
  }
  if (const auto good = check_name(name); !good) {
    return Failure(good.error());
  }
  const Result<Range> range = parse_range(text);
  if (!range) {
    return in_param(name, range.error());
  }
  return Param(name, *range);
}

Result<Param> Param::parse(std::string_view name, std::string_view text) {
  if (text.find(',') == text.npos && !text.empty()) {
    return single(name, text);
  }
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view value = text.substr(begin, comma - begin);
    if (value.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("parameter '{}' has an empty value in '{}={}'", name, name, text));
    }
    if (looks_like_range(value)) {
      return fail(ErrorCode::Usage,
                  fmt::format("parameter '{}': the range '{}' must stand alone, without commas",
                              name, value));
    }
    values.emplace_back(value);
    begin = comma + 1;
  }
  return listed(name, values);
}

std::optional<std::uint64_t> Param::size() const {
  if (const auto* values = std::get_if<Values>(&values_)) {
    return values->size();
  }
  return std::visit([](const auto& range) -> std::optional<std::uint64_t> { return range.count; },
                    std::get<Range>(values_));
}

ParamValue Param::at(std::uint64_t index) const {
  if (const auto* values = std::get_if<Values>(&values_)) {
    return (*values)[index];
  }
  const Range& range = std::get<Range>(values_);
  if (const auto* reals = std::get_if<RealRange>(&range)) {
    return real_value(reals->at(index));
  }
  if (const auto* powers = std::get_if<PowerRange>(&range)) {
    return integer_value(powers->at(index));
  }
  return integer_value(std::get<IntegerRange>(range).at(index));
}

ParamValue Param::sample(Random& random) const {
  BERTH_CHECK(!size().has_value());
  return real_value(std::get<RealRange>(std::get<Range>(values_)).sample(random));
}

bool Param::is_numeric() const {
  const auto* values = std::get_if<Values>(&values_);
  return values == nullptr ||
         std::all_of(values->begin(), values->end(),
                     [](const ParamValue& value) { return value.number.has_value(); });
}

Result<std::vector<Param>> parse_param_words(std::span<const std::string_view> words,
                                             LoneValue lone) {
  BERTH_CHECK(!words.empty());
  std::vector<Param> params;
  if (words[0].find('=') == std::string_view::npos) {
    const std::vector<std::string> values(words.begin() + 1, words.end());
    const bool maybe_range = lone == LoneValue::MayBeRange && values.size() == 1;
    Result<Param> param =
        maybe_range ? Param::single(words[0], values[0]) : Param::listed(words[0], values);
    if (!param) {
      return Failure(param.error());
    }
    params.push_back(*std::move(param));
    return params;
  }
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos || !is_param_name(word.substr(0, equals))) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' is not NAME=VALUES (write -p NAME VALUE… or -p NAME=VALUE,…; "
                              "the template comes first)",
                              word));
    }
    Result<Param> param = Param::parse(word.substr(0, equals), word.substr(equals + 1));
    if (!param) {
      return Failure(param.error());
    }
    params.push_back(*std::move(param));
  }
  return params;
}

}  // namespace berth
