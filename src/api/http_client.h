// HttpClient: a small blocking HTTP/1.1 client for berth's own socket. No library behind it: a
// command in a shell loop has a millisecond or two in all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

struct HttpReply {
  int status = 0;
  std::string body;
};

class HttpClient {
 public:
  /// ErrorCode::Unavailable when nobody listens.
  static Result<HttpClient> connect(const std::string& socket_path);

  /// One request over the kept connection.
  Result<HttpReply> send(std::string_view method, std::string_view target, std::string_view body);

  /// Many requests at once, answered in order: what makes thousands a second durable.
  Result<std::vector<HttpReply>> send_all(std::string_view method, std::string_view target,
                                          std::span<const std::string> bodies);

  /// Reads a stream of server-sent events until `on_event` returns false or the server ends it.
  Result<void> follow(std::string_view target, std::string_view last_event_id,
                      const std::function<bool(std::string_view id, std::string_view event,
                                               std::string_view data)>& on_event);

 private:
  explicit HttpClient(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
  std::string buffer_;  // read but not used yet
};

}  // namespace berth
