// HttpServer: HTTP/1.1 on a Unix socket and, when asked, on TCP. It parses, limits and
// authenticates; what a request means is the handler's business. All calls happen on the loop's
// thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/loop.h"
#include "base/result.h"

namespace berth {

/// Who asks.
struct Peer {
  bool local = true;  // by the Unix socket: uid is the kernel's word
  uid_t uid = 0;
};

struct HttpRequest {
  std::string method;                                      // "GET"
  std::string path;                                        // "/v1/jobs/12", decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string body;
  std::string last_event_id;
  Peer peer;

  /// The first value of that name.
  std::optional<std::string_view> parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

/// An open stream of server-sent events. Writing never blocks: a client that does not read is cut
/// off when too much waits for it.
class EventStream {
 public:
  virtual ~EventStream() = default;
  /// False when the client has gone or is too slow.
  virtual bool send(std::uint64_t id, std::string_view event, std::string_view data) = 0;
};

/// Exactly one of these answers a request, now or later, on the loop's thread. Dropping it answers
/// 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void respond(HttpResponse response) = 0;
  /// Starts an event stream; the stream lives until the client goes or the pointer is dropped.
  virtual std::shared_ptr<EventStream> stream() = 0;
};

class HttpServer {
 public:
  using Handler = std::function<void(HttpRequest, std::unique_ptr<Responder>)>;

  struct Limits {
    std::size_t header_bytes = 16 * 1024;
    std::size_t body_bytes = 256 * 1024 * 1024;
    std::size_t connections = 2000;
    Duration idle = std::chrono::seconds(60);    // between requests, and for a request to arrive
    std::size_t unsent_bytes = 4 * 1024 * 1024;  // per event stream
  };

  HttpServer(Loop& loop, Handler handler, Limits limits);
  HttpServer(Loop& loop, Handler handler) : HttpServer(loop, std::move(handler), Limits()) {}
  ~HttpServer();

  /// Mode 0600 unless `others` may connect too. A socket file that nobody listens on is replaced.
  Result<void> listen_unix(const std::string& path, bool others);
  /// `address` is HOST:PORT. Every request must carry the token, name a Host that is this address
  /// or a loopback name, and come from no foreign Origin. Beyond loopback only with `force`.
  Result<int> listen_tcp(const std::string& address, const std::string& token, bool force);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
