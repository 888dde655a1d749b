#include "spec/toml_nesting.h"

#include <algorithm>

namespace berth {
namespace {

/// Behind the text that is quoted at `begin`, or the end of what is there.
std::size_t quoted_end(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const bool escapes = quote == '"';
  const auto three = [&](std::size_t at) {
    return at + 2 < text.size() && text[at] == quote && text[at + 1] == quote &&
           text[at + 2] == quote;
  };
  const bool lines = three(begin);
  for (std::size_t at = begin + (lines ? 3 : 1); at < text.size(); ++at) {
    if (escapes && text[at] == '\\') {
      ++at;
    } else if (!lines && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    } else if (lines && three(at)) {
      // Up to two more belong to the text itself.
      std::size_t end = at + 3;
      for (int more = 0; more < 2 && end < text.size() && text[end] == quote; ++more) {
        ++end;
      }
      return end;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> find_deep_nesting(std::string_view text, std::size_t most) {
  std::size_t dots = 0;
  std::size_t brackets = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
      case '\'':
        at = quoted_end(text, at) - 1;
        continue;
      case '#':
        at = std::min(text.find('\n', at), text.size());
        dots = 0;
        continue;
      case '.':
        ++dots;
        break;
      case '[':
      case '{':
        ++brackets;
        dots = 0;
        break;
      case ']':
      case '}':
        brackets -= brackets > 0 ? 1 : 0;
        dots = 0;
        break;
      case '=':
      case ',':
      case '\n':
        dots = 0;
        break;
      default:
        break;
    }
    if (dots > most || brackets > most) {
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace berth
