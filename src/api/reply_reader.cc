#include "api/reply_reader.h"

#include <algorithm>
#include <charconv>

#include "api/http_text.h"
#include "base/text.h"

namespace berth {
namespace {

constexpr std::size_t kMaxHead = std::size_t{64} * 1024;

Failure not_http() {
  return fail(ErrorCode::Unavailable, "what answers on the socket does not speak berth's protocol");
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// "HTTP/1.1 200 OK"
bool read_status_line(std::string_view line, ReplyHead& head) {
  constexpr std::string_view kVersion = "HTTP/1.";
  if (!line.starts_with(kVersion) || line.size() < 12 || line[8] != ' ' ||
      (line.size() > 12 && line[12] != ' ')) {
    return false;
  }
  head.keep_alive = line[7] != '0';
  return read_number(line.substr(9, 3), head.status) && head.status >= 100;
}

bool read_field(std::string_view line, ReplyHead& head) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (equal_ignoring_case(name, "content-length")) {
    std::size_t length = 0;
    if (!read_number(value, length) || head.length.value_or(length) != length) {
      return false;
    }
    head.length = length;
  } else if (equal_ignoring_case(name, "connection")) {
    head.keep_alive = !equal_ignoring_case(value, "close");
  } else if (equal_ignoring_case(name, "transfer-encoding")) {
    return false;  // berth's server sends none
  }
  return true;
}

}  // namespace

Result<std::optional<ReplyHead>> parse_reply_head(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (text.size() > kMaxHead) {
      return not_http();
    }
    return std::optional<ReplyHead>();
  }
  ReplyHead head;
  head.size = end + 4;
  std::string_view rest = text.substr(0, end + 2);
  for (bool first = true; !rest.empty(); first = false) {
    const std::size_t line_end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, line_end);
    rest.remove_prefix(line_end + 2);
    if (!(first ? read_status_line(line, head) : read_field(line, head))) {
      return not_http();
    }
  }
  const bool has_no_body = head.status < 200 || head.status == 204 || head.status == 304;
  if (has_no_body) {
    head.length = 0;
  }
  return std::optional<ReplyHead>(head);
}

bool EventReader::read(std::string_view text, const OnEvent& on_event) {
  while (!text.empty()) {
    if (std::exchange(after_return_, false) && text.front() == '\n') {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      part_ += text;
      return true;
    }
    after_return_ = text[end] == '\r';
    part_ += text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::string line = std::exchange(part_, {});
    if (!take_line(line, on_event)) {
      return false;
    }
  }
  return true;
}

bool EventReader::take_line(std::string_view line, const OnEvent& on_event) {
  if (line.empty()) {
    const bool wanted = !has_data_ || on_event(id_, event_, data_);
    has_data_ = false;
    event_.clear();
    data_.clear();
    return wanted;
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) {
    value.remove_prefix(1);
  }
  if (name == "data") {
    if (std::exchange(has_data_, true)) {
      data_ += '\n';
    }
    data_ += value;
  } else if (name == "event") {
    event_ = value;
  } else if (name == "id") {
    id_ = value;
  }
  return true;
}

}  // namespace berth
