#include "api/http_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "api/http_error.h"
#include "api/http_text.h"
#include "api/socket_owner.h"
#include "api/sockets.h"

namespace berth {
namespace {

using boost::system::error_code;
using Descriptor = boost::asio::posix::stream_descriptor;

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
/// One connection's share of a batch; others wait behind it.
constexpr std::size_t kWriteBytes = std::size_t{1024} * 1024;
/// Time for the requests of one connection, which may come by the thousand and be long to answer:
/// with it used up, its answers leave and the others have their turn before it goes on.
constexpr auto kShare = std::chrono::milliseconds(2);
/// Requests of one connection that wait for their answers.
constexpr std::size_t kLine = 4096;
/// The same for requests that read: their answers may be large, and may all become due at once.
constexpr std::size_t kReads = 32;
/// For a refused client to read why.
constexpr auto kDrain = std::chrono::seconds(2);
constexpr std::size_t kKeptCapacity = std::size_t{256} * 1024;

class StreamOfConnection : public EventStream {
 public:
  StreamOfConnection(std::weak_ptr<HttpConnection> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~StreamOfConnection() override {
    if (const auto connection = connection_.lock()) {
      connection->end_stream(number_);
    }
  }

  bool send(std::uint64_t id, std::string_view event, std::string_view data) override {
    const auto connection = connection_.lock();
    return connection != nullptr && connection->send_event(number_, id, event, data);
  }

 private:
  std::weak_ptr<HttpConnection> connection_;
  std::uint64_t number_;
};

class ResponderOfConnection : public Responder {
 public:
  ResponderOfConnection(std::weak_ptr<HttpConnection> connection, std::uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~ResponderOfConnection() override {
    if (!connection_.expired()) {
      respond(error_response(500, "the request was dropped without an answer"));
    }
  }

  void respond(HttpResponse response) override {
    if (const auto connection = std::exchange(connection_, {}).lock()) {
      connection->respond(number_, response);
    }
  }

  bool gone() const override {
    const auto connection = connection_.lock();
    return connection == nullptr || connection->ended();
  }

  std::shared_ptr<EventStream> stream() override {
    const std::weak_ptr<HttpConnection> weak = std::exchange(connection_, {});
    const auto connection = weak.lock();
    const bool open = connection != nullptr && connection->start_stream(number_);
    return std::make_shared<StreamOfConnection>(open ? weak : std::weak_ptr<HttpConnection>(),
                                                number_);
  }

 private:
  std::weak_ptr<HttpConnection> connection_;  // none when it has been answered
  std::uint64_t number_;
};

}  // namespace

HttpConnection::HttpConnection(Loop::Native& loop, ConnectionHost& host,
                               const HttpServer::Limits& limits, Fd socket, Peer peer,
                               std::shared_ptr<const TcpAccess> access)
    : loop_(loop),
      host_(host),
      limits_(limits),
      socket_(loop.context),
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
  host_.closed(*this);
}

void HttpConnection::restart_clock() { deadline_ = Clock::now() + limits_.idle; }

// Reading.

void HttpConnection::wait_readable() {
  if (closed_ || ended_ || std::exchange(waiting_readable_, true)) {
    return;
  }
  socket_.async_wait(Descriptor::wait_read, [self = shared_from_this()](error_code error) {
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
  if (input_.empty() && input_.capacity() > kKeptCapacity) {
    input_.shrink_to_fit();
  }
}

void HttpConnection::take_head(bool more_is_here) {
  const RequestHead& head = reader_.head();
  if (access_ != nullptr) {
    const std::variant<Peer, Refusal> verdict = admit(*access_, head, local_address_);
    if (const auto* refusal = std::get_if<Refusal>(&verdict)) {
      refuse(refusal->status, refusal->message);
      return;
    }
    peer_ = std::get<Peer>(verdict);
    if (peer_.uid == kNobody) {
      reader_.limit_body(kOpenBodyBytes);
      if (head.method == "POST") {
        peer_.process = owner_of_other_end(socket_.native_handle()).value_or(kNobody);
      }
    }
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
  respond(add_place(reader_.head().method == "HEAD", false, 0), error_response(status, message));
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

// Answers.

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
  body_bytes_ -= place->body_bytes;
  place->state = Place::State::Ready;
  std::string& out = output_of(*place);
  const bool has_body = response.status != 204 && response.status != 304;
  ResponseHead head{response.status, response.type, &response.headers, std::nullopt,
                    place->keep_alive};
  if (has_body) {
    head.length = response.body.size();
  }
  append_head(out, head);
  if (has_body && !place->head_only) {
    out += response.body;
  }
  ready_bytes_ += place->output.size();
  advance();
}

bool HttpConnection::start_stream(std::uint64_t number) {
  Place* place = find(number);
  if (place == nullptr || place->state != Place::State::Waiting) {
    return false;
  }
  body_bytes_ -= place->body_bytes;
  const bool open = !place->head_only;
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
  std::string& out = output_of(*place);
  const std::size_t waiting = &out == &output_ ? unsent() : out.size();
  if (waiting + data.size() > limits_.unsent_bytes) {
    close();
    return false;
  }
  append_event(out, id, event, data);
  flush_later();
  return true;
}

void HttpConnection::end_stream(std::uint64_t number) {
  if (Place* place = find(number); place != nullptr && place->state == Place::State::Streaming) {
    place->state = Place::State::Ready;
    ready_bytes_ += place->output.size();
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
    boost::asio::post(loop_.context, [self = shared_from_this()] { self->resume(); });
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
