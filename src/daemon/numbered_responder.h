// NumberedResponder: tells a client which events its answer knows of, in the header `Berth-Event`.
// A client that sends the number as Last-Event-ID when it begins to listen misses nothing, so it
// can read before it listens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "api/http_server.h"

namespace berth {

class NumberedResponder : public Responder {
 public:
  NumberedResponder(std::unique_ptr<Responder> reply, std::uint64_t event)
      : reply_(std::move(reply)), event_(event) {}

  void respond(HttpResponse response) override {
    response.headers.emplace_back("Berth-Event", std::to_string(event_));
    reply_->respond(std::move(response));
  }
  bool gone() const override { return reply_->gone(); }
  bool closed() const override { return reply_->closed(); }
  std::shared_ptr<EventStream> stream() override { return reply_->stream(); }

 private:
  std::unique_ptr<Responder> reply_;
  std::uint64_t event_;
};

}  // namespace berth
