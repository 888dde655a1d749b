// HttpClient: a small blocking HTTP/1.1 client for berth's own socket. No library behind it: a
// command in a shell loop has a millisecond or two in all.
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

  /// The value of a header of the daemon's own, whose names are written as it writes them.
  std::string_view header(std::string_view name) const;
};

/// After an error the connection is closed and every call fails: connect again. Targets must be
/// encoded (percent_encode() in api/http_text.h).
class HttpClient {
 public:
  /// ErrorCode::Unavailable when nobody listens. `patience` is how long the daemon may be silent in
  /// the middle of a request or before its answer; longer is ErrorCode::Unavailable, too.
  static Result<HttpClient> connect(const std::string& socket_path,
                                    Duration patience = std::chrono::seconds(60));

  /// For requests that may take longer, such as those that wait for a job; kForever: no limit.
  void set_patience(Duration patience) { patience_ = patience; }

  /// One request over the kept connection.
  Result<HttpReply> send(std::string_view method, std::string_view target, std::string_view body);

  /// Many requests at once, answered in order: what makes thousands a second durable. `on_reply`
  /// gets each reply with the index of its body; after an error the requests behind the last reply
  /// may have been carried out or not.
  Result<void> send_all(std::string_view method, std::string_view target,
                        std::span<const std::string> bodies,
                        const std::function<void(std::size_t index, HttpReply reply)>& on_reply);

  /// Reads a stream of server-sent events until `on_event` returns false (the connection is used up
  /// then), the server ends it, or, with ErrorCode::Timeout, `at_most` has passed. An answer that
  /// is no stream is ErrorCode::Refused with its body as the message.
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
