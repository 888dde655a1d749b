#include "spec/template.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/sweep_text.h"

namespace berth {
namespace {

Failure at_column(std::string_view text, std::size_t offset, std::string_view what) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.find_last_of('\n') + 1;  // npos + 1 is 0
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return fail(
      ErrorCode::Usage,
      fmt::format("template, {}column {}: {}", line == 1 ? "" : fmt::format("line {}, ", line),
                  column_of(text.substr(line_start), offset - line_start), what));
}

}  // namespace

Result<Template> Template::parse(std::string_view text, std::span<const Param> params) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  if (text.empty()) {
    return fail(ErrorCode::Usage, "the template is empty");
  }
  Template result;
  Piece piece;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '{' && c != '}') {
      piece.literal += c;
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == c) {
      piece.literal += c;
      ++at;
      continue;
    }
    if (c == '}') {
      return at_column(text, at, "'}' without '{' (write }} for a literal brace)");
    }
    const std::size_t end = text.find_first_of("{}", at + 1);
    if (end == text.npos || text[end] == '{') {
      return at_column(text, at, "'{' without '}' (write {{ for a literal brace)");
    }
    const std::string_view field = text.substr(at + 1, end - at - 1);
    const std::size_t colon = field.find(':');
    std::string_view name = field.substr(0, colon);
    if (name.ends_with("!s")) {
      name.remove_suffix(2);  // Python's way to say that a text is a text
    }
    if (!is_param_name(name)) {
      return at_column(
          text, at,
          fmt::format("'{{{}}}' does not name a parameter (write {{{{ and }}}} for literal braces)",
                      field));
    }
    if (colon != field.npos) {
      Result<TextFormat> format = TextFormat::parse(field.substr(colon + 1));
      if (!format) {
        return at_column(text, at, fmt::format("'{{{}}}': {}", field, format.error().message));
      }
      piece.format = *std::move(format);
    }
    const auto param = std::find_if(params.begin(), params.end(),
                                    [&](const Param& known) { return known.name() == name; });
    if (param == params.end()) {
      return at_column(text, at,
                       fmt::format("unknown parameter '{}' (known: {})", name, names_of(params)));
    }
    piece.param = static_cast<std::size_t>(param - params.begin());
    result.pieces_.push_back(std::move(piece));
    piece = {};
    at = end;
  }
  result.pieces_.push_back(std::move(piece));
  return result;
}

bool Template::uses(std::size_t param) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [param](const Piece& piece) { return piece.param == param; });
}

std::string Template::expand(std::span<const ParamValue> values) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    text += piece.literal;
    if (piece.param) {
      const std::string& value = values[*piece.param].text;
      text += piece.format ? piece.format->apply(value) : value;
    }
  }
  return text;
}

}  // namespace berth
