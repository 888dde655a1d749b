#include "api/http_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "api/sockets.h"

namespace berth {
namespace {

constexpr std::size_t kReplyBytes = std::size_t{64} * 1024;
/// Requests of send_all() that are on their way at once, and their bytes that wait to be sent.
constexpr std::size_t kInFlight = 2048;
constexpr std::size_t kPipelineBytes = std::size_t{256} * 1024;

constexpr const char* kCheck = "check it with 'berth daemon status'";

/// Nothing that would end the line it stands on.
bool is_one_word(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c <= ' '; });
}

void append_request(std::string& out, std::string_view method, std::string_view target,
                    std::string_view further, std::string_view body) {
  out.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
  out.append(further);
  if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    out.append("Content-Type: application/json\r\nContent-Length: ");
    out.append(fmt::format_int(body.size()).c_str()).append("\r\n");
  }
  out.append("\r\n").append(body);
}

Failure connect_error(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return fail(ErrorCode::Unavailable,
                  fmt::format("no daemon listens on {}; start it with 'berth daemon start'", path));
    case EACCES:
    case EPERM:
      return fail(ErrorCode::Unavailable,
                  fmt::format("{} belongs to another user's daemon; set BERTH_HOME to a folder of "
                              "your own",
                              path));
    case EAGAIN:
      return fail(ErrorCode::Unavailable,
                  fmt::format("the daemon on {} is too busy to answer; {}", path, kCheck));
    default:
      return fail(ErrorCode::Unavailable,
                  fmt::format("cannot reach the daemon on {}: {}", path, strerrordesc_np(error)));
  }
}

}  // namespace

std::string_view HttpReply::header(std::string_view name) const {
  const std::string start = fmt::format("\r\n{}: ", name);
  const std::size_t found = head.find(start);
  if (found == head.npos) {
    return "";
  }
  const std::size_t begin = found + start.size();
  return std::string_view(head).substr(begin, head.find('\r', begin) - begin);
}

Result<HttpClient> HttpClient::connect(const std::string& socket_path, Duration patience) {
  const Result<UnixAddress> address = unix_address(socket_path);
  if (!address) {
    return fail(ErrorCode::Unavailable, address.error().message);
  }
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) {
    return fail_errno("cannot make a socket", errno);
  }
  if (patience != kForever) {
    // connect() waits while the daemon has too many that wait; this is its time-out.
    const auto micros = std::chrono::ceil<std::chrono::microseconds>(patience).count();
    const timeval limit{static_cast<time_t>(micros / 1000000),
                        static_cast<suseconds_t>(micros % 1000000)};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  while (::connect(socket.get(), address->get(), address->size) != 0) {
    if (errno != EINTR) {
      return connect_error(socket_path, errno);
    }
  }
  return HttpClient(std::move(socket), patience);
}

Failure HttpClient::broken(ErrorCode code, std::string message) {
  socket_.reset();
  return fail(code, std::move(message));
}

/// Waits until one of `events` is possible, for `patience_` and not past `deadline`.
Result<short> HttpClient::wait(short events, Clock::time_point deadline) {
  const Clock::time_point start = Clock::now();
  const bool is_patient = patience_ >= deadline - start;
  const Clock::time_point end = is_patient ? deadline : start + patience_;
  for (;;) {
    int limit = -1;
    if (end != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
    }
    pollfd state{socket_.get(), events, 0};
    const int ready = ::poll(&state, 1, limit);
    if (ready > 0) {
      return state.revents;
    }
    if (ready == 0 && Clock::now() >= end) {
      return is_patient ? broken(ErrorCode::Timeout, "the time is over")
                        : broken(ErrorCode::Unavailable,
                                 fmt::format("the daemon has not answered for {:.0f} s; {}",
                                             to_seconds(patience_), kCheck));
    }
    if (ready < 0 && errno != EINTR) {
      return broken(ErrorCode::Unavailable, "cannot wait for the daemon");
    }
  }
}

/// Adds to buffer_, or sets ended_.
Result<void> HttpClient::receive(Clock::time_point deadline) {
  for (;;) {
    if (Result<short> ready = wait(POLLIN, deadline); !ready) {
      return Failure(ready.error());
    }
    if (used_ > 0) {
      buffer_.erase(0, used_);
      used_ = 0;
    }
    std::array<char, kReplyBytes> part;
    const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (got > 0) {
      buffer_.append(part.data(), static_cast<std::size_t>(got));
      return {};
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      ended_ = true;
      return {};
    }
  }
}

/// A daemon that hangs up has perhaps said why: that is for the reader to find.
Result<void> HttpClient::push(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put =
        ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {
      if (Result<short> ready = wait(POLLOUT, Clock::time_point::max()); !ready) {
        return Failure(ready.error());
      }
    } else if (errno != EINTR) {
      return {};
    }
  }
  return {};
}

/// The next reply, when all of it has been received.
Result<std::optional<HttpReply>> HttpClient::take_reply(bool head_only) {
  for (;;) {
    const std::string_view unread = std::string_view(buffer_).substr(used_);
    Result<std::optional<ReplyHead>> parsed = parse_reply_head(unread);
    if (!parsed) {
      return broken(parsed.error().code, parsed.error().message);
    }
    std::optional<HttpReply> reply;
    if (*parsed) {
      const ReplyHead& head = **parsed;
      if (head.status < 200) {
        used_ += head.size;
        continue;
      }
      const std::string_view body = unread.substr(head.size);
      const std::size_t length = head_only ? 0 : head.length.value_or(body.size());
      const bool is_whole = head_only || (head.length ? body.size() >= length : ended_);
      if (is_whole) {
        reply = HttpReply{head.status, std::string(body.substr(0, length)),
                          std::string(unread.substr(0, head.size))};
        used_ += head.size + length;
        if (!head.keep_alive || ended_) {
          socket_.reset();
        }
        return reply;
      }
    }
    if (ended_) {
      return broken(ErrorCode::Unavailable,
                    fmt::format("the daemon closed the connection without an answer; {}", kCheck));
    }
    return reply;
  }
}

Result<HttpReply> HttpClient::read_reply(bool head_only) {
  for (;;) {
    Result<std::optional<HttpReply>> reply = take_reply(head_only);
    if (!reply) {
      return Failure(reply.error());
    }
    if (*reply) {
      return std::move(**reply);
    }
    if (Result<void> received = receive(Clock::time_point::max()); !received) {
      return Failure(received.error());
    }
  }
}

Result<HttpReply> HttpClient::send(std::string_view method, std::string_view target,
                                   std::string_view body) {
  if (Result<void> started = begin(target); !started) {
    return Failure(started.error());
  }
  std::string request;
  append_request(request, method, target, "", body);
  if (Result<void> pushed = push(request); !pushed) {
    return Failure(pushed.error());
  }
  return read_reply(method == "HEAD");
}

Result<void> HttpClient::begin(std::string_view target) {
  if (!is_one_word(target)) {
    return fail(ErrorCode::Usage, fmt::format("'{}' is not an encoded target", target));
  }
  if (!socket_) {
    return fail(ErrorCode::Unavailable,
                fmt::format("the connection to the daemon has ended; {}", kCheck));
  }
  return {};
}

Result<void> HttpClient::send_all(
    std::string_view method, std::string_view target, std::span<const std::string> bodies,
    const std::function<void(std::size_t index, HttpReply reply)>& on_reply) {
  if (Result<void> started = begin(target); !started) {
    return started;
  }
  std::string out;
  std::size_t written = 0;  // requests, in `out` or sent
  std::size_t answered = 0;
  while (answered < bodies.size()) {
    while (written < bodies.size() && written - answered < kInFlight &&
           out.size() < kPipelineBytes) {
      append_request(out, method, target, "", bodies[written++]);
    }
    if (Result<void> moved = exchange(out); !moved) {
      return moved;
    }
    for (;;) {
      Result<std::optional<HttpReply>> reply = take_reply(method == "HEAD");
      if (!reply) {
        return Failure(reply.error());
      }
      if (!*reply) {
        break;
      }
      on_reply(answered++, std::move(**reply));
      if (!socket_ && answered < bodies.size()) {
        return fail(ErrorCode::Unavailable,
                    fmt::format("the daemon answered {} of {} requests and hung up; {}", answered,
                                bodies.size(), kCheck));
      }
      if (answered == written) {
        break;
      }
    }
  }
  return {};
}

/// Sends some of `out` or receives something, whichever is possible: waiting for only one of them
/// while the daemon waits for the other would last for ever.
Result<void> HttpClient::exchange(std::string& out) {
  const Result<short> ready =
      wait(out.empty() ? POLLIN : POLLIN | POLLOUT, Clock::time_point::max());
  if (!ready) {
    return Failure(ready.error());
  }
  if ((*ready & POLLOUT) != 0) {
    const ssize_t put = ::send(socket_.get(), out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) {
      out.erase(0, static_cast<std::size_t>(put));
    } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
      out.clear();  // it has hung up; what it said is still to be read
    }
  }
  return (*ready & ~POLLOUT) != 0 ? receive(Clock::time_point::max()) : Result<void>();
}

Result<void> HttpClient::follow(std::string_view target, std::string_view last_event_id,
                                const EventReader::OnEvent& on_event, Duration at_most) {
  if (Result<void> started = begin(target); !started) {
    return started;
  }
  std::string further = "Accept: text/event-stream\r\n";
  if (!last_event_id.empty() && is_one_word(last_event_id)) {
    further.append("Last-Event-ID: ").append(last_event_id).append("\r\n");
  }
  std::string request;
  append_request(request, "GET", target, further, "");
  if (Result<void> pushed = push(request); !pushed) {
    return pushed;
  }
  const Clock::time_point start = Clock::now();
  const Clock::time_point deadline =
      at_most > Clock::time_point::max() - start ? Clock::time_point::max() : start + at_most;
  const Result<bool> is_stream = reads_stream(deadline);
  if (!is_stream) {
    return Failure(is_stream.error());
  }
  if (!*is_stream) {
    Result<HttpReply> reply = read_reply(false);
    return reply ? fail(ErrorCode::Refused, std::move(reply->body)) : Failure(reply.error());
  }
  EventReader reader;
  for (;;) {
    const bool wants_more = reader.read(std::string_view(buffer_).substr(used_), on_event);
    used_ = buffer_.size();
    if (!wants_more || ended_) {
      socket_.reset();
      return {};
    }
    if (Result<void> received = receive(deadline); !received) {
      return received;
    }
  }
}

/// Takes the head of a stream; leaves that of another answer.
Result<bool> HttpClient::reads_stream(Clock::time_point deadline) {
  for (;;) {
    Result<std::optional<ReplyHead>> head =
        parse_reply_head(std::string_view(buffer_).substr(used_));
    if (!head) {
      return broken(head.error().code, head.error().message);
    }
    if (*head) {
      const bool is_stream = (*head)->status == 200 && !(*head)->length;
      used_ += is_stream ? (*head)->size : 0;
      return is_stream;
    }
    if (ended_) {
      return false;
    }
    if (Result<void> received = receive(deadline); !received) {
      return Failure(received.error());
    }
  }
}

}  // namespace berth
