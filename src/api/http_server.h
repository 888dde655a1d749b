// HttpServer: HTTP/1.1 on a Unix socket and, when asked, on TCP. It parses, limits and
// authenticates; the handler decides what a request means. All calls happen on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/budgets.h"
#include "api/loop.h"
#include "base/result.h"

namespace berth {

struct HttpRequest {
  std::string method;                                      // "GET"
  std::string path;                                        // "/v1/jobs/12", decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string body;
  std::string last_event_id;
  std::string if_none_match;
  Peer peer;

  /// The first value of that name.
  std::optional<std::string_view> parameter(std::string_view name) const;
  /// All values of that name, in order.
  std::vector<std::string_view> parameters(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // additional headers, such as Allow
};

/// An open stream of server-sent events. Writing never blocks: a client that does not read is cut
/// off when too much waits for it.
class EventStream {
 public:
  virtual ~EventStream() = default;
  /// How many bytes can be sent before the stream is cut off.
  virtual std::size_t room() const = 0;
  /// False when the client has gone or is too slow. All later calls then return false, too.
  virtual bool send(std::uint64_t id, std::string_view event, std::string_view data) = 0;
};

/// Each request has exactly one responder, which answers it now or later, on the loop's thread,
/// with one call of respond() or stream(). Dropping the responder answers 500. Nothing happens if
/// the client or the server has gone meanwhile.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void respond(HttpResponse response) = 0;
  /// Whether the client has closed its side. When the client does so, the loop runs a batch.
  virtual bool gone() const { return false; }
  /// Whether no answer can reach the client any more. A client may end its side and still read.
  virtual bool closed() const { return false; }
  /// Starts an event stream; the stream lives until the client goes or the pointer is dropped. A
  /// user with too many streams is answered 503, and the stream is a closed one.
  virtual std::shared_ptr<EventStream> stream() = 0;
};

/// A connection may send many requests at once. Each goes to the handler as it arrives. The answers
/// leave in the order of the requests, whatever order they are given in.
///
/// Each user's part of the server is bounded (budgets.h). When a user at the limit for connections
/// opens another, the server closes that user's longest idle connection. Closing an idle connection
/// is always allowed in HTTP, and clients connect again. If none is idle, or another budget is used
/// up, the answer is 503 with Retry-After and the end of the connection.
class HttpServer {
 public:
  /// Called on the loop's thread, in a batch; must not destroy the server.
  using Handler = std::function<void(HttpRequest, std::unique_ptr<Responder>)>;

  struct Limits {
    std::size_t header_bytes = std::size_t{16} * 1024;
    std::size_t body_bytes = std::size_t{32} * 1024 * 1024;
    Budgets::Limits budgets;
    Duration idle = std::chrono::seconds(60);  // between requests, and for a request to arrive
    Duration stranger_idle = std::chrono::seconds(10);        // the same before a token is shown
    std::size_t unsent_bytes = std::size_t{4} * 1024 * 1024;  // per event stream, at most
    Duration heartbeat = std::chrono::seconds(15);            // a comment on each event stream
  };

  /// Called on the loop's thread when a client is refused here, before any handler: with the
  /// client's user (Budgets::kStrangers if unknown) and with what it was refused, in words.
  using OnRefusal = std::function<void(uid_t who, std::string_view what)>;

  HttpServer(Loop& loop, Handler handler, Limits limits);
  HttpServer(Loop& loop, Handler handler) : HttpServer(loop, std::move(handler), Limits()) {}
  /// Closes every connection at once.
  ~HttpServer();

  /// Mode 0600 unless `others` may connect too. A socket file without a listener is replaced.
  Result<void> listen_unix(const std::string& path, bool others);
  /// `address` is HOST:PORT. Returns the port, which the system chooses for port 0. Every request
  /// must carry a token of `access` unless it is an open one, name a Host that is this address or a
  /// loopback name (`access.hosts` is filled in here), and come from no foreign Origin. An address
  /// beyond loopback needs `force`.
  Result<int> listen_tcp(const std::string& address, TcpAccess access, bool force);

  void on_refusal(OnRefusal call);
  const Budgets& budgets() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // its timer holds it weakly
};

}  // namespace berth
