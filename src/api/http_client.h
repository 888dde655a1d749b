// HttpClient: a small blocking HTTP/1.1 client for berth's own socket. It uses no library, because
// a command in a shell loop has a millisecond or two in all.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/reply_reader.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"

namespace berth {

struct HttpReply {
  int status = 0;
  std::string body;
  std::string head;  // as received

  /// The value of one of the daemon's own headers. `name` is spelled as the daemon spells it.
  std::string_view header(std::string_view name) const;
};

/// After an error the connection is closed and every call fails: connect again. Targets must be
/// encoded (percent_encode() in api/http_text.h).
class HttpClient {
 public:
  /// ErrorCode::Unavailable when no daemon listens. `patience` is how long the daemon may be silent
  /// in the middle of a request or before its answer. A longer silence is ErrorCode::Unavailable,
  /// too.
  static Result<HttpClient> connect(const std::string& socket_path,
                                    Duration patience = std::chrono::seconds(60));

  /// For requests that may take longer, such as those that wait for a job; kForever: no limit.
  void set_patience(Duration patience) { patience_ = patience; }

  /// One request over the kept connection.
  Result<HttpReply> send(std::string_view method, std::string_view target, std::string_view body);

  /// Sends many requests at once, which are answered in order. This allows thousands of durable
  /// requests a second. `on_reply` gets each reply with the index of its body. After an error, the
  /// requests after the last reply may or may not have been carried out.
  Result<void> send_all(std::string_view method, std::string_view target,
                        std::span<const std::string> bodies,
                        const std::function<void(std::size_t index, HttpReply reply)>& on_reply);

  /// Reads a stream of server-sent events until `on_event` returns false (the connection is used up
  /// then), the server ends it, or, with ErrorCode::Timeout, `at_most` has passed. An answer that
  /// is not a stream is ErrorCode::Refused with its body as the message.
  Result<void> follow(std::string_view target, std::string_view last_event_id,
                      const EventReader::OnEvent& on_event, Duration at_most = kForever);

 private:
  HttpClient(Fd socket, Duration patience) : socket_(std::move(socket)), patience_(patience) {}

  using Clock = std::chrono::steady_clock;

  Result<void> begin(std::string_view target);
  Result<short> wait(short events, Clock::time_point deadline);
  Result<void> receive(Clock::time_point deadline);
  Result<void> push(std::string_view text);
  Result<std::optional<HttpReply>> take_reply(bool head_only);
  Result<HttpReply> read_reply(bool head_only);
  Result<void> exchange(std::string& out);
  Result<bool> reads_stream(Clock::time_point deadline);
  Failure broken(ErrorCode code, std::string message);

  Fd socket_;
  Duration patience_;
  std::string buffer_;    // received
  std::size_t used_ = 0;  // of buffer_
  bool ended_ = false;    // nothing more will be received
};

}  // namespace berth
