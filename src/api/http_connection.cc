#include "api/http_connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "api/http_error.h"
#include "api/http_responder.h"

namespace berth {
namespace {

/// Time for the requests of one connection, which may come by the thousand and be long to answer:
/// with it used up, its answers leave and the others have their turn before it goes on.
constexpr auto kShare = std::chrono::milliseconds(2);

}  // namespace

HttpConnection::HttpConnection(Loop::Native& loop, ConnectionHost& host,
                               const HttpServer::Limits& limits, Fd socket, Peer peer,
                               std::shared_ptr<const TcpAccess> access)
    : loop_(loop),
      host_(host),
      limits_(limits),
      account_(host.budgets(), access == nullptr ? peer.uid : Budgets::kStrangers),
      socket_(loop, std::move(socket)),
      intake_(host, account_, limits, socket_.fd(), peer, std::move(access)),
      line_(output_, limits),
      clock_(limits, account_.who() == Budgets::kStrangers, Clock::now()) {}

void HttpConnection::close() {
  if (!ends_.close()) {
    return;
  }
  socket_.close();
  line_.clear();
  account_.close();
  host_.closed(*this);
}

void HttpConnection::start() {
  account_.set(Good::Connections, 1);
  wait_readable();
}

void HttpConnection::turn_away(std::string_view why) {
  refuse(503, why);
  wait_readable();
}

std::optional<HttpConnection::Clock::time_point> HttpConnection::dispensable_since() const {
  const bool idle = line_.empty() && intake_.is_idle() && output_.unsent() == 0;
  const bool dispensable =
      account_.has(Good::Connections) > 0 && (idle || account_.who() == Budgets::kStrangers);
  return dispensable ? std::optional(clock_.active()) : std::nullopt;
}

void HttpConnection::settle_account() {
  if (!ends_.is_closed()) {
    account_.set(Good::RequestBytes, intake_.bytes() + line_.body_bytes());
    account_.set(Good::AnswerBytes, line_.unread());
  }
}

// Reading.

void HttpConnection::wait_readable() {
  if (!ends_.is_closed() && !ends_.client_ended()) {
    socket_.wait_readable([self = shared_from_this()] {
      if (!self->ends_.is_closed()) {
        self->receive();
      }
    });
  }
}

void HttpConnection::receive() {
  // Shared by all connections: nothing stays in it between calls. It is on the heap, because every
  // process and thread would pay for a buffer among its thread's variables.
  static thread_local std::vector<char> buffer(RequestIntake::kReadBytes);
  const ssize_t got = ::recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got == 0) {
    ends_.end_client();
    // A client may send its requests, end its side and read on; only one that has closed is gone.
    if (socket_.is_hung_up() || ends_.is_draining() || line_.is_streaming() ||
        (line_.empty() && output_.unsent() == 0)) {
      close();
    }
    return;
  }
  if (got < 0 && errno != EAGAIN && errno != EINTR) {
    close();
    return;
  }
  if (got > 0 && ends_.takes_requests()) {
    intake_.add({buffer.data(), static_cast<std::size_t>(got)});
    process();
  }
  if (!paused_) {
    wait_readable();
  }
}

void HttpConnection::resume() {
  if (!ends_.is_closed()) {
    paused_ = false;
    process();
    if (!paused_) {
      wait_readable();
    }
  }
}

// Requests.

void HttpConnection::process() {
  const Clock::time_point end = Clock::now() + kShare;
  bool tired = false;
  while (ends_.takes_requests()) {
    if (line_.is_congested()) {
      paused_ = true;
      break;
    }
    if (tired) {
      paused_ = true;
      flush_later();  // which resumes
      break;
    }
    if (!intake_.started()) {
      if (!intake_.has_more()) {
        break;
      }
      clock_.restart(Clock::now());  // for this request to arrive
    }
    const uid_t before = account_.who();
    const RequestIntake::Step step = intake_.next();
    if (account_.who() != before) {
      clock_.meet();
      clock_.restart(Clock::now());
    }
    if (step == RequestIntake::Step::NeedMore) {
      break;
    }
    if (step == RequestIntake::Step::Refused) {
      refuse(intake_.refusal().status, intake_.refusal().message);
    } else if (step == RequestIntake::Step::Request) {
      take_request();
      tired = Clock::now() > end;
    } else if (intake_.awaits_continue() && line_.empty()) {
      output_.text() += "HTTP/1.1 100 Continue\r\n\r\n";
      flush_later();
    }
  }
  intake_.trim(!ends_.takes_requests());
  if (ends_.takes_requests() &&
      !account_.fits(Good::RequestBytes, intake_.bytes() + line_.body_bytes())) {
    refuse(503, host_.used_up(account_.who(), Good::RequestBytes));
  }
  settle_account();
}

void HttpConnection::take_request() {
  std::optional<RequestIntake::Taken> taken = intake_.take();
  if (!taken) {
    refuse(400, "the target is not a path");
    return;
  }
  if (!taken->keep_alive) {
    ends_.take_no_more();
  }
  HttpRequest& request = taken->request;
  const std::uint64_t number = line_.add({.head_only = request.method == "HEAD",
                                          .keep_alive = taken->keep_alive,
                                          .reads = request.method == "GET",
                                          .gzip = taken->accepts_gzip,
                                          .body_bytes = request.body.size()});
  host_.handle(std::move(request),
               std::make_unique<ResponderOfConnection>(weak_from_this(), number));
}

void HttpConnection::refuse(int status, std::string_view message) {
  ends_.refuse();
  const bool head_only = intake_.asks_for_head();
  intake_.drop();
  respond(line_.add({.head_only = head_only, .keep_alive = false}),
          error_response(status, message));
}

}  // namespace berth
