// WebAccess: the way to the web page: the port at which it is found, links that sign in, and whose
// token is whose.
#pragma once

#include <string>

#include "daemon/desk.h"
#include "daemon/sessions.h"

namespace berth {

class WebAccess {
 public:
  /// `folder`: where the token and the sessions are kept.
  WebAccess(Desk& desk, HttpServer& server, std::string folder);

  /// Listens as asked at the start; else where the daemon before was found, if anybody ever wanted
  /// the page.
  Result<void> open();
  /// HOST:PORT; empty: not on TCP.
  const std::string& listening() const { return listening_; }

  /// POST /v1/login: a link for the user who asks.
  HttpResponse log_in(const HttpRequest& request);
  /// POST /v1/session: a token for whoever has followed the link.
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
  std::string note_;  // why the page is not where it was
};

}  // namespace berth
