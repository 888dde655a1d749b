// Responders that record what they are told, for tests of requests that are answered later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/http_server.h"

namespace berth {

struct SentEvent {
  std::uint64_t id;
  std::string name;
  std::string data;
  bool operator==(const SentEvent&) const = default;
};

/// What a client has received. Shared with the responder, because the owner of the responder drops
/// it.
struct Received {
  std::optional<HttpResponse> response;
  std::vector<SentEvent> events;
  std::size_t most = 1'000'000;  // events; then the stream is cut off
  std::size_t room = 1'000'000;  // bytes that the stream says it has room for

  std::string names() const {
    std::string all;
    for (const SentEvent& event : events) {
      all += (all.empty() ? "" : " ") + event.name;
    }
    return all;
  }
};

class RecordingStream : public EventStream {
 public:
  explicit RecordingStream(std::shared_ptr<Received> received) : received_(std::move(received)) {}
  std::size_t room() const override { return received_->room; }
  bool send(std::uint64_t id, std::string_view event, std::string_view data) override {
    if (received_->events.size() >= received_->most) {
      return false;
    }
    received_->events.push_back({id, std::string(event), std::string(data)});
    return true;
  }

 private:
  std::shared_ptr<Received> received_;
};

class RecordingResponder : public Responder {
 public:
  explicit RecordingResponder(std::shared_ptr<Received> received)
      : received_(std::move(received)) {}
  void respond(HttpResponse response) override { received_->response = std::move(response); }
  std::shared_ptr<EventStream> stream() override {
    return std::make_shared<RecordingStream>(received_);
  }

 private:
  std::shared_ptr<Received> received_;
};

}  // namespace berth
