#include "api/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace berth {
namespace {

struct Character {
  std::size_t length = 1;
  bool valid = true;
};

/// The UTF-8 character at the front of `text`. One that is not valid is as long as what could have
/// become one.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {};
  }
  if (lead < 0xC2 || lead > 0xF4) {
    return {1, false};
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  // Of the second byte: neither longer than need be, nor a surrogate, nor above U+10FFFF.
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i) {
    const bool fits =
        i < text.size() && byte(i) >= (i == 1 ? least : 0x80) && byte(i) <= (i == 1 ? most : 0xBF);
    if (!fits) {
      return {i, false};
    }
  }
  return {length, true};
}

bool is_plain_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += R"(\")";
      return;
    case '\\':
      out += R"(\\)";
      return;
    case '\n':
      out += R"(\n)";
      return;
    case '\t':
      out += R"(\t)";
      return;
    case '\r':
      out += R"(\r)";
      return;
    case '\b':
      out += R"(\b)";
      return;
    case '\f':
      out += R"(\f)";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_plain_letter) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    const Character next = first_character(text);
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      append_escaped(out, text.front());
    } else {
      out += next.valid ? text.substr(0, next.length) : kReplacement;
    }
    text.remove_prefix(next.length);
  }
  out += '"';
}

}  // namespace

void JsonWriter::new_line() {
  if (indent_ > 0) {
    text_ += '\n';
    text_.append(indent_ * depth_, ' ');
  }
}

void JsonWriter::begin_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) {
    text_ += ',';
  }
  first_ = false;
  if (depth_ > 0) {
    new_line();
  }
}

void JsonWriter::key(std::string_view name) {
  begin_value();
  append_quoted(text_, name);
  text_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
}

void JsonWriter::open(char bracket) {
  begin_value();
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!first_) {
    new_line();
  }
  text_ += bracket;
  first_ = false;
}

void JsonWriter::value(std::string_view text) {
  begin_value();
  append_quoted(text_, text);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    return word("null");
  }
  begin_value();
  fmt::format_to(std::back_inserter(text_), "{}", number);
}

void JsonWriter::fixed(double number, int decimals) {
  if (!std::isfinite(number)) {
    return word("null");
  }
  begin_value();
  fmt::format_to(std::back_inserter(text_), "{:.{}f}", number, decimals);
}

void JsonWriter::integer(std::int64_t number) {
  begin_value();
  const fmt::format_int digits(number);
  text_.append(digits.data(), digits.size());
}

void JsonWriter::natural(std::uint64_t number) {
  begin_value();
  const fmt::format_int digits(number);
  text_.append(digits.data(), digits.size());
}

void JsonWriter::word(std::string_view json) {
  begin_value();
  text_ += json;
}

std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

}  // namespace berth
