#include "api/json_parts.h"

#include <algorithm>

#include "base/text.h"

namespace berth {
namespace {

/// Behind the closing quote of the string that opens at `begin`, or npos.
std::size_t string_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.npos;
}

}  // namespace

JsonExtent json_extent(std::string_view text, std::size_t begin) {
  JsonExtent extent;
  extent.end = text.npos;
  extent.values = 1;
  std::size_t depth = 0;
  std::size_t at = begin;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (at == text.npos) {
        return extent;
      }
      if (depth == 0) {
        break;
      }
      continue;
    }
    if (c == '[' || c == '{') {
      extent.depth = std::max(extent.depth, ++depth);
      ++extent.values;
    } else if (c == ']' || c == '}') {
      if (depth == 0) {
        break;
      }
      if (--depth == 0) {
        ++at;
        break;
      }
    } else if (c == ',') {
      if (depth == 0) {
        break;
      }
      ++extent.values;
    } else if (depth == 0 && kBlanks.find(c) != kBlanks.npos) {
      break;
    }
    ++at;
  }
  if (depth == 0) {
    extent.end = at;
  }
  return extent;
}

JsonParts::JsonParts(std::string_view text, Of of) : text_(text), of_(of) {
  skip_blanks();
  if (!take(of == Of::Object ? '{' : '[')) {
    fail();
  }
}

void JsonParts::skip_blanks() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
}

bool JsonParts::take(char c) {
  const bool here = at_ < text_.size() && text_[at_] == c;
  at_ += here ? 1 : 0;
  return here;
}

bool JsonParts::fail() {
  failed_ = true;
  done_ = true;
  return false;
}

bool JsonParts::take_value(std::string_view& part) {
  const std::size_t begin = at_;
  extent_ = json_extent(text_, begin);
  if (extent_.end == text_.npos || extent_.end == begin) {
    return false;
  }
  part = text_.substr(begin, extent_.end - begin);
  at_ = extent_.end;
  return true;
}

bool JsonParts::next() {
  if (done_) {
    return false;
  }
  skip_blanks();
  const char close = of_ == Of::Object ? '}' : ']';
  if (take(close)) {
    done_ = true;
    skip_blanks();
    return at_ == text_.size() ? false : fail();
  }
  if (!first_) {
    if (!take(',')) {
      return fail();
    }
    skip_blanks();
  }
  first_ = false;
  if (of_ == Of::Object) {
    if (at_ == text_.size() || text_[at_] != '"' || !take_value(key_)) {
      return fail();
    }
    skip_blanks();
    if (!take(':')) {
      return fail();
    }
    skip_blanks();
  }
  return take_value(value_) ? true : fail();
}

}  // namespace berth
