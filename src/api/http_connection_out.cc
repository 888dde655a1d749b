// The way out of a connection: answers, event streams, and what the client has not read.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "api/http_connection.h"
#include "api/http_error.h"
#include "api/http_text.h"

namespace berth {
namespace {

using boost::system::error_code;
using Descriptor = boost::asio::posix::stream_descriptor;

/// One connection's share of a batch; others wait behind it.
constexpr std::size_t kWriteBytes = std::size_t{1024} * 1024;
/// For a refused client to read why.
constexpr auto kDrain = std::chrono::seconds(2);
/// An answer that every user gets who reads what came before, however much others of the same user
/// leave unread.
constexpr std::size_t kSmallAnswer = std::size_t{16} * 1024;

}  // namespace

HttpConnection::Place* HttpConnection::find(std::uint64_t number) {
  return number >= first_ && number - first_ < line_.size() ? &line_[number - first_] : nullptr;
}

std::string& HttpConnection::output_of(Place& place) {
  return &place == &line_.front() ? output_ : place.output;
}

bool HttpConnection::is_streaming() const {
  return !line_.empty() && line_.front().state == Place::State::Streaming;
}

void HttpConnection::respond(std::uint64_t number, const HttpResponse& response) {
  Place* place = find(number);
  if (place == nullptr || place->state != Place::State::Waiting) {
    return;
  }
  const std::size_t unread = answer_bytes();
  if (!account_.fits(Good::AnswerBytes, unread + response.body.size()) &&
      (unread > 0 || response.body.size() > kSmallAnswer)) {
    host_.refused(account_.who(), Good::AnswerBytes);
    place->keep_alive = false;
    no_more_ = true;
    drain_first_ = true;
    write(*place, error_response(503, host_.budgets().explain(account_.who(), Good::AnswerBytes)));
  } else {
    write(*place, response);
  }
}

void HttpConnection::write(Place& place, const HttpResponse& response) {
  body_bytes_ -= place.body_bytes;
  place.state = Place::State::Ready;
  std::string& out = output_of(place);
  const bool has_body = response.status != 204 && response.status != 304;
  ResponseHead head{response.status, response.type, &response.headers, std::nullopt,
                    place.keep_alive};
  if (has_body) {
    head.length = response.body.size();
  }
  append_head(out, head);
  if (has_body && !place.head_only) {
    out += response.body;
  }
  ready_bytes_ += place.output.size();
  advance();
}

bool HttpConnection::start_stream(std::uint64_t number) {
  Place* place = find(number);
  if (place == nullptr || place->state != Place::State::Waiting) {
    return false;
  }
  const bool open = !place->head_only;
  if (open && !account_.fits(Good::Streams, 1)) {
    host_.refused(account_.who(), Good::Streams);
    respond(number, error_response(503, host_.budgets().explain(account_.who(), Good::Streams)));
    return false;
  }
  account_.set(Good::Streams, open ? 1 : 0);
  body_bytes_ -= place->body_bytes;
  place->state = open ? Place::State::Streaming : Place::State::Ready;
  place->keep_alive = false;
  no_more_ = true;  // an answer without an end has none behind it
  append_head(output_of(*place), {200, "text/event-stream", nullptr, std::nullopt, false});
  heartbeat_ = Clock::now() + limits_.heartbeat;
  advance();
  return open && !closed_;
}

bool HttpConnection::send_event(std::uint64_t number, std::uint64_t id, std::string_view event,
                                std::string_view data) {
  Place* place = find(number);
  if (place == nullptr || place->state != Place::State::Streaming) {
    return false;
  }
  if (data.size() > stream_room(number)) {
    close();
    return false;
  }
  append_event(output_of(*place), id, event, data);
  settle_account();
  flush_later();
  return true;
}

std::size_t HttpConnection::stream_room(std::uint64_t number) {
  const Place* place = find(number);
  if (place == nullptr || place->state != Place::State::Streaming) {
    return 0;
  }
  const std::size_t most = std::min(limits_.unsent_bytes, account_.stream_share());
  return most - std::min(most, answer_bytes());
}

void HttpConnection::end_stream(std::uint64_t number) {
  if (Place* place = find(number); place != nullptr && place->state == Place::State::Streaming) {
    place->state = Place::State::Ready;
    ready_bytes_ += place->output.size();
    account_.set(Good::Streams, 0);
    advance();
  }
}

void HttpConnection::advance() {
  while (!line_.empty() && line_.front().state == Place::State::Ready) {
    ending_ = !line_.front().keep_alive;
    reads_ -= line_.front().reads ? 1 : 0;
    line_.pop_front();
    ++first_;
    if (ending_) {
      line_.clear();
      break;
    }
    if (!line_.empty()) {
      Place& place = line_.front();
      ready_bytes_ -= place.state == Place::State::Ready ? place.output.size() : 0;
      output_ += place.output;
      place.output = {};
    }
  }
  settle_account();
  flush_later();
}

// Writing.

void HttpConnection::flush_later() {
  if (!closed_ && !std::exchange(will_flush_, true)) {
    loop_.flush_later(shared_from_this());
  }
}

void HttpConnection::wait_writable() {
  if (closed_ || std::exchange(waiting_writable_, true)) {
    return;
  }
  restart_clock();
  socket_.async_wait(Descriptor::wait_write, [self = shared_from_this()](error_code error) {
    self->waiting_writable_ = false;
    if (!error) {
      self->flush_later();  // not now: this batch's answers are not committed
    }
  });
}

void HttpConnection::flush() {
  will_flush_ = false;
  if (closed_ || !send_some()) {
    return;
  }
  if (unsent() > 0) {
    wait_writable();
  } else if (ending_ || (ended_ && (line_.empty() || is_streaming()))) {
    finish();
    return;
  } else if (line_.empty() && !reader_.started()) {
    restart_clock();
  }
  if (paused_ && !is_congested()) {
    boost::asio::post(loop_.context, [self = shared_from_this()] {
      self->loop_.woken();
      self->resume();
    });
  }
}

/// False when the connection has been closed.
bool HttpConnection::send_some() {
  std::size_t left = kWriteBytes;
  while (unsent() > 0 && left > 0) {
    const ssize_t put = ::send(socket_.native_handle(), output_.data() + sent_,
                               std::min(unsent(), left), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
      sent_ += static_cast<std::size_t>(put);
      left -= static_cast<std::size_t>(put);
      restart_clock();
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      close();
      return false;
    }
  }
  if (unsent() == 0) {
    output_.clear();
    sent_ = 0;
    if (output_.capacity() > kKeptCapacity) {
      output_.shrink_to_fit();
    }
  } else if (sent_ > output_.size() / 2) {
    output_.erase(0, sent_);
    sent_ = 0;
  }
  settle_account();
  return true;
}

void HttpConnection::finish() {
  if (!drain_first_ || ended_) {
    close();
    return;
  }
  if (!std::exchange(draining_, true)) {
    ::shutdown(socket_.native_handle(), SHUT_WR);
    deadline_ = Clock::now() + kDrain;
    wait_readable();
  }
}

void HttpConnection::tick(Clock::time_point now) {
  if (is_streaming() && now >= heartbeat_) {
    heartbeat_ = now + limits_.heartbeat;
    if (unsent() == 0) {
      output_ += kHeartbeat;
      flush_later();
    }
  }
  if (closed_ || now < deadline_) {
    return;
  }
  const bool does_not_read = draining_ || waiting_writable_;
  if (does_not_read || (line_.empty() && !reader_.started())) {
    close();
  } else if (line_.empty()) {
    refuse(408, "the request took too long to arrive");
  }
}

}  // namespace berth
