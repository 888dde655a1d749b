#include "cluster/tcp.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <memory>

#include "base/units.h"

namespace berth {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses find_addresses(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool fine =
      ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found) == 0;
  return {fine ? found : nullptr, &::freeaddrinfo};
}

int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

/// The error number of a connection attempt; 0 when it came about.
int try_to_connect(int socket, const addrinfo& to, std::chrono::steady_clock::time_point deadline) {
  if (::connect(socket, to.ai_addr, to.ai_addrlen) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) {
    return errno;
  }
  pollfd wait{socket, POLLOUT, 0};
  if (::poll(&wait, 1, milliseconds_until(deadline)) <= 0) {
    return ETIMEDOUT;
  }
  int problem = 0;
  socklen_t size = sizeof problem;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &size);
  return problem;
}

}  // namespace

Result<Fd> listen_on(int port) {
  Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int no = 0;
  const int yes = 1;
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(static_cast<std::uint16_t>(port));
  bool bound = false;
  if (socket) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bound = ::bind(socket.get(), reinterpret_cast<sockaddr*>(&any6), sizeof any6) == 0;
  }
  if (!bound && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {  // a machine without IPv6
    socket = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = any6.sin6_port;
    bound = ::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0;
  }
  if (!bound || ::listen(socket.get(), 16) != 0) {
    return fail_errno(fmt::format("cannot listen on port {}", port), errno);
  }
  return socket;
}

Result<Fd> connect_to(const std::string& host, int port, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const Addresses addresses = find_addresses(host, port);
  if (addresses == nullptr) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("the name {} does not resolve: use its address, or add it to /etc/hosts",
                    host));
  }
  int problem = ECONNREFUSED;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    Fd socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    problem = socket ? try_to_connect(socket.get(), *one, deadline) : errno;
    if (problem == 0) {
      return socket;
    }
  }
  Failure failure = fail_errno(fmt::format("cannot reach {} port {}", host, port), problem);
  failure.value().code = ErrorCode::Unavailable;
  return failure;
}

Result<void> send_line(int socket, std::string_view line) {
  std::string text = fmt::format("{}\n", line);
  std::string_view left = text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!left.empty()) {
    const ssize_t n = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      left.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    pollfd wait{socket, POLLOUT, 0};
    if ((n < 0 && errno != EAGAIN && errno != EINTR) ||
        ::poll(&wait, 1, milliseconds_until(deadline)) <= 0) {
      return fail_errno("the connection broke", errno);
    }
  }
  return {};
}

Result<std::string> receive_line(int socket, std::size_t most, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::string text;
  std::array<char, 4096> block;
  while (text.find('\n') == text.npos) {
    pollfd wait{socket, POLLIN, 0};
    if (::poll(&wait, 1, milliseconds_until(deadline)) <= 0) {
      return fail(ErrorCode::Timeout,
                  fmt::format("no answer within {}", format_duration(patience)));
    }
    const ssize_t n = ::recv(socket, block.data(), block.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      return fail(ErrorCode::Unavailable, "the other side closed the connection");
    }
    text.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (text.size() > most) {
      return fail(ErrorCode::Usage, "the other side sent too much");
    }
  }
  return text.substr(0, text.find('\n'));
}

bool resolves(const std::string& host) { return find_addresses(host, 0) != nullptr; }

Result<HostPort> parse_host(std::string_view text, int otherwise) {
  HostPort host{std::string(text), otherwise};
  const std::size_t colon = text.rfind(':');
  if (colon != text.npos && text.find(':') == colon) {  // more than one: an IPv6 address
    const Result<std::int64_t> port = parse_integer(text.substr(colon + 1), "the port");
    if (!port) {
      return Failure(port.error());
    }
    host = {std::string(text.substr(0, colon)), static_cast<int>(*port)};
  }
  const bool plain = std::all_of(host.host.begin(), host.host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':';
  });
  if (host.host.empty() || host.host[0] == '-' || !plain || host.port <= 0 || host.port > 65535) {
    return fail(ErrorCode::Usage, fmt::format("'{}' is not a host or HOST:PORT", text));
  }
  return host;
}

}  // namespace berth
