// Responders of HTTP connections: what a handler holds of a request that it has not answered yet,
// and of an event stream. Both hold their connection weakly: it may be gone before they are.
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
  std::weak_ptr<HttpConnection> connection_;  // none when it has been answered
  std::uint64_t number_;
};

}  // namespace berth
