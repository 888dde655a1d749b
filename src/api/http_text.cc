#include "api/http_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_line_break(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

/// What stands before the first `mark`, and what behind it; all is before a mark that is not there.
std::pair<std::string_view, std::string_view> cut_at(std::string_view text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) {
    return {text, {}};
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

bool parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const auto [item, rest] = cut_at(text, '&');
    text = rest;
    if (item.empty()) {
      continue;
    }
    const auto [key, content] = cut_at(item, '=');
    std::optional<std::string> name = percent_decode(key, true);
    std::optional<std::string> value = percent_decode(content, true);
    if (!name || !value || has_nul(*name) || has_nul(*value)) {
      return false;
    }
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return std::nullopt;
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::optional<Target> parse_target(std::string_view target) {
  Target out;
  if (target == "*") {
    out.path = "*";
    return out;
  }
  if (target.empty() || target.front() != '/' || target.find('#') != std::string_view::npos) {
    return std::nullopt;
  }
  const auto [location, query] = cut_at(target, '?');
  std::optional<std::string> path = percent_decode(location, false);
  if (!path || has_nul(*path) || !parse_query(query, out)) {
    return std::nullopt;
  }
  out.path = std::move(*path);
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

void append_head(std::string& out, const ResponseHead& head) {
  out += "HTTP/1.1 ";
  out += fmt::format_int(head.status).c_str();
  out += ' ';
  out += reason_phrase(head.status);
  out += "\r\n";
  if (!head.type.empty() && !has_line_break(head.type)) {
    out += "Content-Type: ";
    out += head.type;
    out += "\r\n";
  }
  if (head.length) {
    out += "Content-Length: ";
    out += fmt::format_int(*head.length).c_str();
    out += "\r\n";
  }
  const bool says_how_to_keep =
      head.headers != nullptr &&
      std::any_of(head.headers->begin(), head.headers->end(),
                  [](const auto& header) { return header.first == "Cache-Control"; });
  out += says_how_to_keep ? "" : "Cache-Control: no-store\r\n";
  out += "X-Content-Type-Options: nosniff\r\n";
  if (head.headers != nullptr) {
    for (const auto& [name, value] : *head.headers) {
      if (!has_line_break(name) && !has_line_break(value)) {
        out.append(name).append(": ").append(value).append("\r\n");
      }
    }
  }
  out += head.keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
}

void append_event(std::string& out, std::uint64_t id, std::string_view event,
                  std::string_view data) {
  out += "id: ";
  out += fmt::format_int(id).c_str();
  out += "\nevent: ";
  out += event;
  out += '\n';
  for (;;) {
    // A reader takes \r, \n and \r\n for the end of a line. JSON has none of them, and looking for
    // one after the other is ten times as fast as for both.
    const std::size_t end = std::min({data.find('\n'), data.find('\r'), data.size()});
    out += "data: ";
    out += data.substr(0, end);
    out += '\n';
    if (end == data.size()) {
      break;
    }
    data.remove_prefix(data.substr(end, 2) == "\r\n" ? end + 2 : end + 1);
  }
  out += '\n';
}

}  // namespace berth
