// Responders of HTTP connections: the handles that a handler has for an unanswered request and for
// an event stream. Both hold their connection weakly, because the connection may be gone before
// they are.
#pragma once

#include <memory>

#include "api/http_connection.h"

namespace berth {

class ResponderOfConnection : public Responder {
 public:
  ResponderOfConnection(std::weak_ptr<HttpConnection> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~ResponderOfConnection() override;

  void respond(HttpResponse response) override;
  bool gone() const override;
  bool closed() const override;
  std::shared_ptr<EventStream> stream() override;

 private:
  std::weak_ptr<HttpConnection> connection_;  // none once the request has been answered
  std::uint64_t number_;
};

}  // namespace berth
