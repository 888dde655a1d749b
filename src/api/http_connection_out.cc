// The way out of a connection: answers, event streams, and what the client has not read.
#include <algorithm>
#include <utility>

#include "api/http_connection.h"
#include "api/http_error.h"
#include "api/http_text.h"

namespace berth {
namespace {

/// An answer that every user gets who reads what came before, however much others of the same user
/// leave unread.
constexpr std::size_t kSmallAnswer = std::size_t{16} * 1024;

}  // namespace

void HttpConnection::respond(std::uint64_t number, const HttpResponse& response) {
  if (!line_.waits(number)) {
    return;
  }
  const std::size_t unread = line_.unread();
  if (!account_.fits(Good::AnswerBytes, unread + response.body.size()) &&
      (unread > 0 || response.body.size() > kSmallAnswer)) {
    const std::string why = host_.used_up(account_.who(), Good::AnswerBytes);
    ends_.refuse();
    answered(line_.answer_last(number, error_response(503, why)));
  } else {
    answered(line_.answer(number, response));
  }
}

bool HttpConnection::start_stream(std::uint64_t number) {
  if (!line_.waits(number)) {
    return false;
  }
  const bool open = !line_.is_head_only(number);
  if (open && !account_.fits(Good::Streams, 1)) {
    respond(number, error_response(503, host_.used_up(account_.who(), Good::Streams)));
    return false;
  }
  account_.set(Good::Streams, open ? 1 : 0);
  ends_.take_no_more();
  clock_.start_heartbeat(Clock::now());
  answered(line_.start_stream(number));
  return open && !ends_.is_closed();
}

bool HttpConnection::send_event(std::uint64_t number, std::uint64_t id, std::string_view event,
                                std::string_view data) {
  if (!line_.streams(number)) {
    return false;
  }
  if (data.size() > stream_room(number)) {
    close();
    return false;
  }
  line_.add_event(number, id, event, data);
  answered(false);
  return true;
}

std::size_t HttpConnection::stream_room(std::uint64_t number) {
  if (!line_.streams(number)) {
    return 0;
  }
  const std::size_t most = std::min(limits_.unsent_bytes, account_.stream_share());
  return most - std::min(most, line_.unread());
}

void HttpConnection::end_stream(std::uint64_t number) {
  if (line_.streams(number)) {
    account_.set(Good::Streams, 0);
    answered(line_.end_stream(number));
  }
}

/// Something was written, and with `last` all that the client will ever get.
void HttpConnection::answered(bool last) {
  if (last) {
    ends_.end();
  }
  settle_account();
  flush_later();
}

// Writing.

void HttpConnection::flush_later() {
  if (!ends_.is_closed() && !std::exchange(will_flush_, true)) {
    loop_.flush_later(shared_from_this());
  }
}

void HttpConnection::flush() {
  will_flush_ = false;
  if (ends_.is_closed()) {
    return;
  }
  const OutputBuffer::Sent sent = output_.send_to(socket_.fd());
  if (sent == OutputBuffer::Sent::Broken) {
    close();
    return;
  }
  if (sent == OutputBuffer::Sent::Some) {
    clock_.restart(Clock::now());
  }
  settle_account();
  if (output_.unsent() > 0) {
    // The call must not send at once: the answers of its batch are not committed by then.
    if (socket_.wait_writable([self = shared_from_this()] { self->flush_later(); })) {
      clock_.restart(Clock::now());
    }
  } else if (ends_.is_ending() ||
             (ends_.client_ended() && (line_.empty() || line_.is_streaming()))) {
    finish();
    return;
  } else if (line_.empty() && !intake_.started()) {
    clock_.restart(Clock::now());
  }
  if (paused_ && !line_.is_congested()) {
    boost::asio::post(loop_.context, [self = shared_from_this()] {
      self->loop_.woken();
      self->resume();
    });
  }
}

void HttpConnection::finish() {
  if (!ends_.must_drain()) {
    close();
  } else if (ends_.start_draining()) {
    socket_.end_writing();
    clock_.start_draining(Clock::now());
    wait_readable();
  }
}

void HttpConnection::tick(Clock::time_point now) {
  if (line_.is_streaming() && clock_.beats(now) && output_.unsent() == 0) {
    output_.text() += kHeartbeat;
    flush_later();
  }
  if (ends_.is_closed() || !clock_.is_due(now)) {
    return;
  }
  const bool does_not_read = ends_.is_draining() || socket_.waits_writable();
  if (does_not_read || (line_.empty() && !intake_.started())) {
    close();
  } else if (line_.empty()) {
    refuse(408, "the request took too long to arrive");
  }
}

}  // namespace berth
