#include "api/http_responder.h"

#include "api/http_error.h"

namespace berth {
namespace {

class StreamOfConnection : public EventStream {
 public:
  StreamOfConnection(std::weak_ptr<HttpConnection> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~StreamOfConnection() override {
    if (const auto connection = connection_.lock()) {
      connection->end_stream(number_);
    }
  }

  std::size_t room() const override {
    const auto connection = connection_.lock();
    return connection == nullptr ? 0 : connection->stream_room(number_);
  }

  bool send(std::uint64_t id, std::string_view event, std::string_view data) override {
    const auto connection = connection_.lock();
    return connection != nullptr && connection->send_event(number_, id, event, data);
  }

 private:
  std::weak_ptr<HttpConnection> connection_;
  std::uint64_t number_;
};

}  // namespace

ResponderOfConnection::~ResponderOfConnection() {
  if (!connection_.expired()) {
    ResponderOfConnection::respond(
        error_response(500, "the request was dropped without an answer"));
  }
}

void ResponderOfConnection::respond(HttpResponse response) {
  if (const auto connection = std::exchange(connection_, {}).lock()) {
    connection->respond(number_, response);
  }
}

bool ResponderOfConnection::gone() const {
  const auto connection = connection_.lock();
  return connection == nullptr || connection->ends().client_ended();
}

bool ResponderOfConnection::closed() const {
  const auto connection = connection_.lock();
  return connection == nullptr || connection->ends().is_closed();
}

std::shared_ptr<EventStream> ResponderOfConnection::stream() {
  const std::weak_ptr<HttpConnection> weak = std::exchange(connection_, {});
  const auto connection = weak.lock();
  const bool open = connection != nullptr && connection->start_stream(number_);
  return std::make_shared<StreamOfConnection>(open ? weak : std::weak_ptr<HttpConnection>(),
                                              number_);
}

}  // namespace berth
