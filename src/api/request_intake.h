// RequestIntake: turns the bytes of one client into requests and finds out whose they are. Over TCP
// it checks the token of each request, and charges the connection to the token's user. It never
// answers a request itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/access.h"
#include "api/budgets.h"
#include "api/connection_host.h"
#include "api/http_server.h"
#include "api/request_reader.h"

namespace berth {

class RequestIntake {
 public:
  /// The most that is added at a time.
  static constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

  enum class Step {
    NeedMore,  // the request is not complete
    Head,      // the head has been read and accepted; the body is next
    Request,   // the request is complete: take() it
    Refused,   // refusal() says why; no more requests can be read
  };
  struct Taken {
    HttpRequest request;
    bool keep_alive = true;  // false: the client wants the connection closed
    bool accepts_gzip = false;
  };

  /// On a Unix socket `access` is null and `peer` is the client. Host, account and limits outlive
  /// the intake.
  RequestIntake(ConnectionHost& host, Budgets::Account& account, const HttpServer::Limits& limits,
                int socket, Peer peer, std::shared_ptr<const TcpAccess> access);

  void add(std::string_view bytes) { text_ += bytes; }
  Step next();
  /// Call it after Step::Request. Returns nullopt if the target is not a path.
  std::optional<Taken> take();
  /// Valid after Step::Refused, until next() is called again.
  Refusal refusal() const { return {status_, why_}; }

  /// Whether part of a request has been read.
  bool started() const { return reader_.started(); }
  /// Whether some bytes have not been read.
  bool has_more() const { return read_ < text_.size(); }
  /// Whether no request has begun to arrive.
  bool is_idle() const { return !started() && text_.empty(); }
  /// After Step::Head: whether the client waits for "100 Continue" before it sends the body.
  bool awaits_continue() { return reader_.head().expects_continue && !has_more(); }
  /// Whether the request that is being read is a HEAD.
  bool asks_for_head() { return reader_.head().method == "HEAD"; }
  /// How many bytes have been received and not taken.
  std::size_t bytes() const { return text_.size() + reader_.body_size(); }

  /// Frees the bytes that have been read; with `all`, the other bytes as well.
  void trim(bool all);
  /// Drops everything, including the part of a request that has been read.
  void drop();

 private:
  /// False if the request is refused.
  bool let_in(const RequestHead& head);
  bool refuse(int status, std::string why);

  ConnectionHost& host_;
  Budgets::Account& account_;
  const int socket_;
  Peer peer_;  // over TCP, of the request that was read last
  const std::shared_ptr<const TcpAccess> access_;
  const std::string local_address_;  // over TCP
  std::string text_;                 // received and not taken
  std::size_t read_ = 0;             // of text_
  RequestReader reader_;
  int status_ = 0;   // of the refusal
  std::string why_;  // likewise
};

}  // namespace berth
