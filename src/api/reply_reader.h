// The client's half of HTTP: the head of a reply, and server-sent events. Pure. Made for berth's
// own server, but no input breaks it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

struct ReplyHead {
  int status = 0;
  std::optional<std::size_t> length;  // none: until the connection ends
  bool keep_alive = true;
  std::size_t size = 0;  // of the head itself, with its blank line
};

/// Nothing while `text` holds only a part of the head.
Result<std::optional<ReplyHead>> parse_reply_head(std::string_view text);

/// Cuts a stream into events.
class EventReader {
 public:
  /// Returns false when it wants no more events.
  using OnEvent =
      std::function<bool(std::string_view id, std::string_view event, std::string_view data)>;

  /// Calls `on_event` for each event that ends within `text`. False when `on_event` returned false.
  bool read(std::string_view text, const OnEvent& on_event);

 private:
  bool take_line(std::string_view line, const OnEvent& on_event);

  std::string part_;  // of an incomplete line
  bool after_return_ = false;
  bool has_data_ = false;
  std::string id_;  // stays for events without an id of their own
  std::string event_;
  std::string data_;
};

}  // namespace berth
