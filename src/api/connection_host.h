// ConnectionHost: what a connection needs from its server. The host outlives every connection that
// is not closed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/budgets.h"
#include "api/http_server.h"

namespace berth {

class HttpConnection;

class ConnectionHost {
 public:
  virtual void handle(HttpRequest request, std::unique_ptr<Responder> responder) = 0;
  virtual void closed(HttpConnection& connection) = 0;
  virtual Budgets& budgets() = 0;
  /// Whether this user may have one more connection, after closing an idle one where that helps.
  virtual bool make_room(uid_t who) = 0;
  /// Reports a refusal, for HttpServer::OnRefusal.
  virtual void refused(uid_t who, std::string_view what) = 0;
  /// Reports that a budget is used up, and returns the message for the client.
  virtual std::string used_up(uid_t who, Good good) = 0;

 protected:
  ~ConnectionHost() = default;
};

}  // namespace berth
