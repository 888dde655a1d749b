#include "spec/constraint_lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "spec/sweep_text.h"

namespace berth {
namespace {

using Kind = ConstraintTokenKind;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kWordSymbols = {
    {{"and", "&&"}, {"or", "||"}, {"not", "!"}, {"in", "in"}}};

// Longer ones first: "<=" must not be read as "<".
constexpr std::array<std::string_view, 17> kSymbols = {
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", ","};

}  // namespace

Failure ConstraintLexer::error(std::size_t offset, std::string_view what) const {
  return fail(ErrorCode::Usage,
              fmt::format("constraint '{}', column {}: {}", text_, column_of(text_, offset), what));
}

Result<ConstraintToken> ConstraintLexer::next() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) {
    ++at_;
  }
  if (at_ == text_.size()) {
    return ConstraintToken{Kind::End, "", 0, at_};
  }
  const char c = text_[at_];
  if (is_digit(c) || c == '.') {
    return number();
  }
  if (c == '\'' || c == '"') {
    return quoted(c, Kind::Text);
  }
  if (c == '{') {
    return quoted('}', Kind::Name);
  }
  if (is_name_start(c)) {
    return word();
  }
  return symbol();
}

Result<ConstraintToken> ConstraintLexer::number() {
  ConstraintToken token{Kind::Number, "", 0, at_};
  const char* begin = text_.data() + at_;
  const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), token.number);
  if (problem != std::errc() || !std::isfinite(token.number)) {
    return error(at_, "this is not a number");
  }
  at_ += static_cast<std::size_t>(end - begin);
  if (at_ < text_.size() && is_word_char(text_[at_])) {
    return error(at_, "a number ends here, but a letter follows");
  }
  return token;
}

Result<ConstraintToken> ConstraintLexer::quoted(char end, ConstraintTokenKind kind) {
  const std::size_t close = text_.find(end, at_ + 1);
  if (close == text_.npos) {
    return error(at_, fmt::format("'{}' has no closing '{}'", text_[at_], end));
  }
  const ConstraintToken token{kind, text_.substr(at_ + 1, close - at_ - 1), 0, at_};
  at_ = close + 1;
  return token;
}

ConstraintToken ConstraintLexer::word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word_char(text_[at_])) {
    ++at_;
  }
  const std::string_view name = text_.substr(begin, at_ - begin);
  for (const auto& [spelled, meant] : kWordSymbols) {
    if (name == spelled) {
      return {Kind::Symbol, meant, 0, begin};
    }
  }
  return {Kind::Name, name, 0, begin};
}

Result<ConstraintToken> ConstraintLexer::symbol() {
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view known : kSymbols) {
    if (rest.starts_with(known)) {
      const ConstraintToken token{Kind::Symbol, known, 0, at_};
      at_ += known.size();
      return token;
    }
  }
  if (rest.front() == '=') {
    return error(at_, "'=' compares nothing: write '=='");
  }
  return error(at_, fmt::format("'{}' means nothing here", rest.front()));
}

}  // namespace berth
