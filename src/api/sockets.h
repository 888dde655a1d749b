// Sockets to listen on and to connect to, made so that no unauthorised client gets in, not even for
// a moment.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

/// The address of a Unix socket. A path too long for it goes through a descriptor of its folder,
/// which must stay open while the address is used.
struct UnixAddress {
  sockaddr_un address{};
  socklen_t size = 0;
  Fd folder;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<UnixAddress> unix_address(const std::string& path);

/// A listening Unix socket. Its file is removed with it, if it is still the same file.
class UnixListener {
 public:
  /// Mode 0600, or 0666 when `others` may connect. Replaces a socket without a listener.
  /// ErrorCode::Refused when the socket has a listener or the path is something else.
  static Result<UnixListener> open(const std::string& path, bool others);

  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  int fd() const { return fd_.get(); }

 private:
  UnixListener(Fd fd, std::string path, const struct stat& file)
      : fd_(std::move(fd)), path_(std::move(path)), device_(file.st_dev), inode_(file.st_ino) {}

  Fd fd_;
  std::string path_;
  dev_t device_;
  ino_t inode_;
};

struct TcpListener {
  Fd fd;
  std::string host;  // as given, with the brackets of an IPv6 address
  int port = 0;      // chosen by the system if 0 was asked for
};

/// `address` is HOST:PORT or [IPv6]:PORT. An address beyond loopback needs `force`.
Result<TcpListener> listen_on_tcp(const std::string& address, bool force);

/// This end of a TCP connection as a Host header would write it: `127.0.0.1:80`, `[::1]:80`.
std::string local_address(int fd);

}  // namespace berth
