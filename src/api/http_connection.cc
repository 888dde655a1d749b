#include "api/http_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "api/http_error.h"
#include "api/http_responder.h"
#include "api/http_text.h"
#include "api/socket_owner.h"
#include "api/sockets.h"

namespace berth {
namespace {

using boost::system::error_code;
using Descriptor = boost::asio::posix::stream_descriptor;

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
/// Time for the requests of one connection, which may come by the thousand and be long to answer:
/// with it used up, its answers leave and the others have their turn before it goes on.
constexpr auto kShare = std::chrono::milliseconds(2);
/// Requests of one connection that wait for their answers.
constexpr std::size_t kLine = 4096;
/// The same for requests that read: their answers may be large, and may all become due at once.
constexpr std::size_t kReads = 8;

}  // namespace

HttpConnection::HttpConnection(Loop::Native& loop, ConnectionHost& host,
                               const HttpServer::Limits& limits, Fd socket, Peer peer,
                               std::shared_ptr<const TcpAccess> access)
    : loop_(loop),
      host_(host),
      limits_(limits),
      socket_(loop.context),
      account_(host.budgets(), access == nullptr ? peer.uid : Budgets::kStrangers),
      peer_(peer),
      access_(std::move(access)),
      reader_({limits.header_bytes, limits.body_bytes}) {
  if (access_ != nullptr) {
    local_address_ = local_address(socket.get());
  }
  error_code error;
  socket_.assign(socket.get(), error);
  if (!error) {
    (void)socket.release();
  }
  restart_clock();
}

void HttpConnection::close() {
  if (std::exchange(closed_, true)) {
    return;
  }
  error_code ignored;
  socket_.close(ignored);
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

bool HttpConnection::is_dispensable() const {
  const bool idle = line_.empty() && !reader_.started() && input_.empty() && unsent() == 0;
  return account_.has(Good::Connections) > 0 && (idle || account_.who() == Budgets::kStrangers);
}

void HttpConnection::restart_clock() {
  active_ = Clock::now();
  deadline_ = active_ + (account_.who() == Budgets::kStrangers
                             ? std::min(limits_.idle, limits_.stranger_idle)
                             : limits_.idle);
}

// What it has of the budgets.

std::size_t HttpConnection::request_bytes() const {
  return input_.size() + reader_.body_size() + body_bytes_;
}

std::size_t HttpConnection::answer_bytes() const {
  // A stream behind others is the last in the line; in front it writes to output_.
  const bool parked = line_.size() > 1 && line_.back().state == Place::State::Streaming;
  return unsent() + ready_bytes_ + (parked ? line_.back().output.size() : 0);
}

void HttpConnection::settle_account() {
  if (!closed_) {
    account_.set(Good::RequestBytes, request_bytes());
    account_.set(Good::AnswerBytes, answer_bytes());
  }
}

// Reading.

void HttpConnection::wait_readable() {
  if (closed_ || ended_ || std::exchange(waiting_readable_, true)) {
    return;
  }
  socket_.async_wait(Descriptor::wait_read, [self = shared_from_this()](error_code error) {
    self->loop_.woken();
    self->waiting_readable_ = false;
    if (!error && !self->closed_) {
      self->receive();
    }
  });
}

void HttpConnection::receive() {
  // Shared by all connections: nothing stays in it between calls.
  static thread_local std::array<char, kReadBytes> buffer;
  const ssize_t got = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got == 0) {
    end_of_input();
    return;
  }
  if (got < 0 && errno != EAGAIN && errno != EINTR) {
    close();
    return;
  }
  if (got > 0 && !no_more_) {
    input_.append(buffer.data(), static_cast<std::size_t>(got));
    process();
  }
  if (!paused_) {
    wait_readable();
  }
}

void HttpConnection::end_of_input() {
  ended_ = true;
  // A client may send its requests, end its side and read on; only one that has closed is gone.
  pollfd state{socket_.native_handle(), 0, 0};
  const bool gone = ::poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR)) != 0;
  if (gone || draining_ || is_streaming() || (line_.empty() && unsent() == 0)) {
    close();
  }
}

void HttpConnection::resume() {
  if (!closed_) {
    paused_ = false;
    process();
    if (!paused_) {
      wait_readable();
    }
  }
}

// Requests.

void HttpConnection::process() {
  std::string_view rest = input_;
  const Clock::time_point end = Clock::now() + kShare;
  bool tired = false;
  while (!closed_ && !no_more_) {
    if (is_congested()) {
      paused_ = true;
      break;
    }
    if (tired) {
      paused_ = true;
      flush_later();  // which resumes
      break;
    }
    if (!reader_.started()) {
      if (rest.empty()) {
        break;
      }
      restart_clock();  // for this request to arrive
    }
    const RequestReader::Step step = reader_.read(rest);
    if (step == RequestReader::Step::NeedMore) {
      break;
    }
    if (step == RequestReader::Step::Failed) {
      refuse(reader_.status(), why_unreadable(reader_.status()));
    } else if (step == RequestReader::Step::Head) {
      take_head(!rest.empty());
    } else {
      take_request();
      tired = Clock::now() > end;
    }
  }
  input_.erase(0, no_more_ ? input_.size() : input_.size() - rest.size());
  if (!no_more_ && !account_.fits(Good::RequestBytes, request_bytes())) {
    refuse_for(Good::RequestBytes);
  }
  if (input_.empty() && input_.capacity() > kKeptCapacity) {
    input_.shrink_to_fit();
  }
  settle_account();
}

void HttpConnection::take_head(bool more_is_here) {
  const RequestHead& head = reader_.head();
  if (access_ != nullptr) {
    const std::variant<Peer, Refusal> verdict = admit(*access_, head, local_address_);
    if (const auto* refusal = std::get_if<Refusal>(&verdict)) {
      host_.refused(account_.who(), refusal->message);
      refuse(refusal->status, refusal->message);
      return;
    }
    peer_ = std::get<Peer>(verdict);
    if (peer_.uid != kNobody && peer_.uid != account_.who()) {
      if (!host_.make_room(peer_.uid)) {
        refuse_for(Good::Connections, peer_.uid);
        return;
      }
      account_.move_to(peer_.uid);
      restart_clock();
    }
    if (peer_.uid == kNobody) {
      reader_.limit_body(kOpenBodyBytes);
      if (head.method == "POST") {
        peer_.process = owner_of_other_end(socket_.native_handle()).value_or(kNobody);
      }
    }
  }
  if (account_.who() != Budgets::kStrangers) {
    // More than the whole budget will not fit later either. Some has come that is not read yet.
    const std::size_t most = account_.limit(Good::RequestBytes);
    reader_.limit_body(most - std::min(most, 2 * kReadBytes));
  }
  if (head.expects_continue && !more_is_here && line_.empty()) {
    output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    flush_later();
  }
}

void HttpConnection::take_request() {
  RequestHead& head = reader_.head();
  std::optional<Target> target = parse_target(head.target);
  if (!target) {
    refuse(400, "the target is not a path");
    return;
  }
  HttpRequest request;
  request.method = std::move(head.method);
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.body = std::move(reader_.body());
  request.last_event_id = std::move(head.last_event_id);
  request.if_none_match = std::move(head.if_none_match);
  request.peer = peer_;
  const bool keep_alive = head.keep_alive;
  reader_.reset();
  no_more_ = !keep_alive;
  const std::uint64_t number = add_place(request.method == "HEAD", keep_alive, request.body.size());
  line_.back().reads = request.method == "GET";
  reads_ += line_.back().reads ? 1 : 0;
  host_.handle(std::move(request),
               std::make_unique<ResponderOfConnection>(weak_from_this(), number));
}

void HttpConnection::refuse(int status, std::string_view message) {
  no_more_ = true;
  drain_first_ = true;
  const bool head_only = reader_.head().method == "HEAD";
  reader_.reset();  // what came of its body
  input_.clear();
  respond(add_place(head_only, false, 0), error_response(status, message));
}

void HttpConnection::refuse_for(Good good, std::optional<uid_t> who) {
  const uid_t user = who.value_or(account_.who());
  host_.refused(user, good);
  refuse(503, host_.budgets().explain(user, good));
}

std::uint64_t HttpConnection::add_place(bool head_only, bool keep_alive, std::size_t body_bytes) {
  Place& place = line_.emplace_back();
  place.head_only = head_only;
  place.keep_alive = keep_alive;
  place.body_bytes = body_bytes;
  body_bytes_ += body_bytes;
  return first_ + line_.size() - 1;
}

bool HttpConnection::is_congested() const {
  return line_.size() >= kLine || reads_ >= kReads || body_bytes_ > limits_.body_bytes ||
         unsent() + ready_bytes_ > limits_.unsent_bytes;
}

}  // namespace berth
