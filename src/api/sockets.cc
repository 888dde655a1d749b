#include "api/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/units.h"

namespace berth {
namespace {

constexpr int kBacklog = 4096;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool somebody_listens(const UnixAddress& address) {
  // Non-blocking: a full backlog must not hold us up, and has a listener.
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), address.get(), address.size) == 0 ||
         (errno != ECONNREFUSED && errno != ENOENT);
}

/// Makes room for a socket at `path`.
Result<void> clear_path(const std::string& path, const UnixAddress& address) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) {
    return errno == ENOENT ? Result<void>()
                           : fail_errno(fmt::format("cannot look at {}", path), errno);
  }
  if (!S_ISSOCK(file.st_mode)) {
    return fail(ErrorCode::Refused,
                fmt::format("{} is in the way and is not a socket; move it away", path));
  }
  if (somebody_listens(address)) {
    return fail(ErrorCode::Refused, fmt::format("a daemon is listening on {} already", path));
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail_errno(fmt::format("cannot replace the old socket {}", path), errno);
  }
  return {};
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    return ntohl(four->sin_addr.s_addr) >> 24 == 127;
  }
  const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
  return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) != 0;
}

struct HostAndPort {
  std::string host;
  std::string port;
};

Result<HostAndPort> split_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool bracketed = !address.empty() && address.front() == '[';
  const bool whole = colon != std::string::npos && colon > 0 &&
                     (bracketed ? address[colon - 1] == ']' : address.find(':') == colon);
  const Result<std::int64_t> port =
      whole ? parse_integer(std::string_view(address).substr(colon + 1), "port")
            : Result<std::int64_t>(-1);
  if (!port || *port < 0 || *port > 65535) {
    return fail(
        ErrorCode::Usage,
        fmt::format("'{}' is not HOST:PORT, such as 127.0.0.1:8750 or [::1]:8750", address));
  }
  return HostAndPort{address.substr(0, colon), address.substr(colon + 1)};
}

}  // namespace

Result<UnixAddress> unix_address(const std::string& path) {
  UnixAddress out;
  out.address.sun_family = AF_UNIX;
  std::string name = path;
  if (name.size() >= sizeof out.address.sun_path) {
    out.folder = Fd(::open(folder_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!out.folder) {
      return fail_errno(fmt::format("cannot open the folder of {}", path), errno);
    }
    name = fmt::format("/proc/self/fd/{}/{}", out.folder.get(), path.substr(path.rfind('/') + 1));
  }
  if (name.empty() || name.size() >= sizeof out.address.sun_path) {
    return fail(ErrorCode::Usage, fmt::format("'{}' cannot be the path of a socket", path));
  }
  std::memcpy(out.address.sun_path, name.c_str(), name.size() + 1);
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  return out;
}

Result<UnixListener> UnixListener::open(const std::string& path, bool others) {
  const Result<UnixAddress> address = unix_address(path);
  if (!address) {
    return Failure(address.error());
  }
  // Two daemons that start at once must not each remove the other's socket as an old one. Where the
  // folder cannot be locked, that stays possible.
  const Fd lock(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  (void)::flock(lock.get(), LOCK_EX);
  if (Result<void> cleared = clear_path(path, *address); !cleared) {
    return Failure(cleared.error());
  }
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // bind() gives the file the mode of the socket (less the umask), so nobody else can connect in
  // between.
  struct stat file {};
  if (!fd || ::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), address->get(), address->size) != 0 || ::lstat(path.c_str(), &file) != 0) {
    return fail_errno(fmt::format("cannot make the socket {}", path), errno);
  }
  UnixListener listener(std::move(fd), path, file);
  if ((others && ::chmod(path.c_str(), 0666) != 0) || ::listen(listener.fd(), kBacklog) != 0) {
    return fail_errno(fmt::format("cannot listen on {}", path), errno);
  }
  return listener;
}

UnixListener::~UnixListener() {
  struct stat file {};
  if (fd_ && ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ &&
      file.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

Result<TcpListener> listen_on_tcp(const std::string& address, bool force) {
  const Result<HostAndPort> parts = split_address(address);
  if (!parts) {
    return Failure(parts.error());
  }
  const bool bracketed = parts->host.front() == '[';
  const std::string bare = bracketed ? parts->host.substr(1, parts->host.size() - 2) : parts->host;
  addrinfo hints{};
  hints.ai_family = bracketed ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(bare.c_str(), parts->port.c_str(), &hints, &found)) {
    return fail(ErrorCode::Usage,
                fmt::format("cannot listen on {}: {}", address, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (!force && !is_loopback(found->ai_addr)) {
    return fail(ErrorCode::Refused,
                fmt::format("{} can be reached from the network, where the token would travel "
                            "unencrypted: listen on 127.0.0.1 and use an SSH tunnel or a proxy "
                            "with TLS, or force it",
                            address));
  }
  TcpListener out{Fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                  parts->host, 0};
  const int yes = 1;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (!out.fd || ::setsockopt(out.fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(out.fd.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(out.fd.get(), kBacklog) != 0 ||
      ::getsockname(out.fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return fail_errno(fmt::format("cannot listen on {}", address), errno);
  }
  out.port =
      ntohs(bound.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in*>(&bound)->sin_port
                                       : reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port);
  return out;
}

std::string local_address(int fd) {
  sockaddr_storage end{};
  socklen_t size = sizeof end;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&end), &size) != 0) {
    return "";
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (end.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&end);
    ::inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(four->sin_port));
  }
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&end);
  ::inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
  return fmt::format("[{}]:{}", text, ntohs(six->sin6_port));
}

}  // namespace berth
