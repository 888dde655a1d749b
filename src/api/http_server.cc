#include "api/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>

#include "api/http_connection.h"
#include "api/sockets.h"

namespace berth {
namespace {

using boost::system::error_code;
using Clock = HttpConnection::Clock;

/// Connections that are taken before others get their turn.
constexpr int kAccepts = 64;

Peer peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  Peer peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    peer.local = true;
    peer.uid = credentials.uid;
  }
  return peer;
}

/// Descriptors for so many connections, and for whatever else this process does.
void make_room_for(std::size_t connections) {
  constexpr rlim_t kOthers = 1000;
  const rlim_t wanted = connections + kOthers;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < wanted) {
    files.rlim_cur = std::min(wanted, files.rlim_max);
    (void)::setrlimit(RLIMIT_NOFILE, &files);  // without it, those who come late wait
  }
}

/// No more to take now, as opposed to: cannot take any.
bool is_passing(int error) {
  return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

}  // namespace

class HttpServer::Impl final : public ConnectionHost, public std::enable_shared_from_this<Impl> {
 public:
  Impl(Loop& loop, Handler handler, Limits limits)
      : loop_(loop),
        handler_(std::move(handler)),
        limits_(limits),
        timer_(loop.native().context),
        interval_(std::clamp<Duration>(std::min(limits.idle, limits.heartbeat) / 4,
                                       std::chrono::milliseconds(5), std::chrono::seconds(1))) {}

  void shut_down() {
    pause();
    doors_.clear();
    timer_.cancel();
    for (const std::shared_ptr<HttpConnection>& connection : all()) {
      connection->close();
    }
  }

  void add(UnixListener listener) {
    unix_.push_back(std::move(listener));
    add_door(unix_.back().fd(), nullptr);
  }

  void add(TcpListener listener, TcpAccess access) {
    access.hosts = host_names(listener.host, listener.port);
    tcp_.push_back(std::move(listener.fd));
    add_door(tcp_.back().get(), std::make_shared<const TcpAccess>(std::move(access)));
  }

  void handle(HttpRequest request, std::unique_ptr<Responder> responder) override {
    handler_(std::move(request), std::move(responder));
  }

  void closed(HttpConnection& connection) override {
    connections_.erase(&connection);
    if (!open_ && !exhausted_) {
      open();
    }
  }

 private:
  struct Door {
    int fd;
    std::shared_ptr<const TcpAccess> access;
  };

  void add_door(int fd, std::shared_ptr<const TcpAccess> access) {
    doors_.push_back({fd, std::move(access)});
    pause();
    open();
  }

  void open() {
    if (std::exchange(open_, true)) {
      return;
    }
    for (std::size_t i = 0; i < doors_.size(); ++i) {
      loop_.watch(doors_[i].fd, [this, i] { accept(doors_[i]); });
    }
  }

  void pause() {
    open_ = false;
    for (const Door& door : doors_) {
      loop_.unwatch(door.fd);
    }
  }

  void accept(const Door& door) {
    for (int i = 0; i < kAccepts; ++i) {
      if (connections_.size() >= limits_.connections) {
        pause();
        return;
      }
      Fd socket(::accept4(door.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) {
        if (!is_passing(errno)) {  // out of descriptors or memory: try again at the next tick
          exhausted_ = true;
          pause();
          start_timer();
        }
        return;
      }
      admit(std::move(socket), door.access);
    }
  }

  void admit(Fd socket, const std::shared_ptr<const TcpAccess>& access) {
    Peer peer;
    if (access == nullptr) {
      peer = peer_of(socket.get());
    } else {
      const int yes = 1;
      (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    auto connection = std::make_shared<HttpConnection>(loop_.native(), *this, limits_,
                                                       std::move(socket), peer, access);
    connections_.emplace(connection.get(), connection);
    connection->start();
    start_timer();
  }

  /// Runs only while somebody is connected: an idle daemon sleeps.
  void start_timer() {
    if (std::exchange(timing_, true)) {
      return;
    }
    timer_.expires_after(interval_);
    timer_.async_wait([weak = weak_from_this()](error_code error) {
      const std::shared_ptr<Impl> self = weak.lock();
      if (!error && self != nullptr) {
        self->timing_ = false;
        self->tick();
      }
    });
  }

  void tick() {
    if (std::exchange(exhausted_, false)) {
      open();
    }
    const Clock::time_point now = Clock::now();
    for (const std::shared_ptr<HttpConnection>& connection : all()) {
      connection->tick(now);
    }
    if (!connections_.empty()) {
      start_timer();
    }
  }

  /// A copy: connections leave the table as they are closed.
  std::vector<std::shared_ptr<HttpConnection>> all() const {
    std::vector<std::shared_ptr<HttpConnection>> out;
    out.reserve(connections_.size());
    for (const auto& [pointer, connection] : connections_) {
      out.push_back(connection);
    }
    return out;
  }

  Loop& loop_;
  const Handler handler_;
  const Limits limits_;
  boost::asio::steady_timer timer_;
  const Duration interval_;
  std::vector<UnixListener> unix_;
  std::vector<Fd> tcp_;
  std::vector<Door> doors_;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  bool open_ = false;       // doors are watched
  bool exhausted_ = false;  // the system has no descriptors left
  bool timing_ = false;
};

std::optional<std::string_view> HttpRequest::parameter(std::string_view name) const {
  const auto found = std::find_if(query.begin(), query.end(),
                                  [&](const auto& item) { return item.first == name; });
  return found == query.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::vector<std::string_view> HttpRequest::parameters(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : query) {
    if (key == name) {
      values.push_back(value);
    }
  }
  return values;
}

HttpServer::HttpServer(Loop& loop, Handler handler, Limits limits)
    : impl_(std::make_shared<Impl>(loop, std::move(handler), limits)) {
  make_room_for(limits.connections);
}

HttpServer::~HttpServer() { impl_->shut_down(); }

Result<void> HttpServer::listen_unix(const std::string& path, bool others) {
  Result<UnixListener> listener = UnixListener::open(path, others);
  if (!listener) {
    return Failure(listener.error());
  }
  impl_->add(std::move(*listener));
  return {};
}

Result<int> HttpServer::listen_tcp(const std::string& address, TcpAccess access, bool force) {
  if (access.token.empty()) {
    return fail(ErrorCode::Usage, "listening on TCP needs a token");
  }
  Result<TcpListener> listener = listen_on_tcp(address, force);
  if (!listener) {
    return Failure(listener.error());
  }
  const int port = listener->port;
  impl_->add(std::move(*listener), std::move(access));
  return port;
}

}  // namespace berth
