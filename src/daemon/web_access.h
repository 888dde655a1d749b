// WebAccess: access to the web page: the port at which it is found, the links that sign users in,
// and the user of each token.
#pragma once

#include <string>

#include "daemon/desk.h"
#include "daemon/sessions.h"

namespace berth {

class WebAccess {
 public:
  /// `folder` holds the token and the sessions.
  WebAccess(Desk& desk, HttpServer& server, std::string folder);

  /// Listens where the options say. Otherwise listens where the previous daemon did, if a user ever
  /// wanted the page.
  Result<void> open();
  /// HOST:PORT; empty: not on TCP.
  const std::string& listening() const { return listening_; }

  /// POST /v1/login: a link for the user who asks.
  HttpResponse log_in(const HttpRequest& request);
  /// POST /v1/session: a token for the client that has followed the link.
  HttpResponse begin_session(const HttpRequest& request);
  /// POST /v1/session/end
  HttpResponse end_session(const HttpRequest& request);

 private:
  Result<TcpAccess> tcp_access();
  Result<void> listen_at(const std::string& address, bool force);
  Result<void> listen_anywhere();
  Result<void> save_sessions();

  Desk& desk_;
  HttpServer& server_;
  std::string folder_;
  Sessions sessions_;
  std::string listening_;
  std::string note_;  // why the page has moved
};

}  // namespace berth
