#include "api/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "api/doors.h"
#include "api/http_connection.h"
#include "api/sockets.h"

namespace berth {
namespace {

using boost::system::error_code;
using Clock = HttpConnection::Clock;

/// Clients that were turned away and still may read why.
constexpr std::size_t kTurnedAway = 64;

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

/// Descriptors for so many connections, and for whatever else this process does. For how many
/// connections there are.
std::size_t make_room_for(std::size_t connections) {
  constexpr rlim_t kOthers = 1000;
  const rlim_t wanted = connections + kOthers;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return connections;
  }
  if (files.rlim_cur < wanted) {
    const rlim_t before = std::exchange(files.rlim_cur, std::min(wanted, files.rlim_max));
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) {
      files.rlim_cur = before;
    }
  }
  return files.rlim_cur >= wanted ? connections : std::min<rlim_t>(connections, files.rlim_cur / 2);
}

}  // namespace

class HttpServer::Impl final : public ConnectionHost, public std::enable_shared_from_this<Impl> {
 public:
  Impl(Loop& loop, Handler handler, Limits limits)
      : loop_(loop),
        handler_(std::move(handler)),
        limits_(limits),
        budgets_(
            limits.budgets.with_connections(make_room_for(limits.budgets[Good::Connections].all)),
            {0, ::getuid()}),
        doors_(
            loop, [this](Fd socket, const auto& access) { admit(std::move(socket), access); },
            [this] { start_timer(); }),  // which tries again
        timer_(loop.native().context),
        interval_(std::clamp<Duration>(
            std::min({limits.idle, limits.stranger_idle, limits.heartbeat}) / 4,
            std::chrono::milliseconds(5), std::chrono::seconds(1))) {}

  void shut_down() {
    doors_.close();
    timer_.cancel();
    for (const std::shared_ptr<HttpConnection>& connection : all()) {
      connection->close();
    }
  }

  Doors& doors() { return doors_; }

  void handle(HttpRequest request, std::unique_ptr<Responder> responder) override {
    handler_(std::move(request), std::move(responder));
  }

  void closed(HttpConnection& connection) override {
    connections_.erase(&connection);
    std::erase_if(turned_away_, [&](const auto& each) {
      const auto known = each.lock();
      return known == nullptr || known.get() == &connection;
    });
  }

  Budgets& budgets() override { return budgets_; }
  void on_refusal(OnRefusal call) { on_refusal_ = std::move(call); }

  void refused(uid_t who, std::string_view what) override {
    if (on_refusal_) {
      on_refusal_(who, what);
    }
  }
  std::string used_up(uid_t who, Good good) override {
    std::string why = budgets_.explain(who, good);
    refused(who, why);
    return why;
  }

  bool make_room(uid_t who) override {
    if (budgets_.has_room(who, Good::Connections)) {
      return true;
    }
    // Which would help: one of the same user, one of the others, or any.
    const bool own = budgets_.is_full(who, Good::Connections);
    const bool all = !budgets_.has_room(0, Good::Connections);
    const auto helps = [&](uid_t whose) {
      return own ? whose == who : all || !budgets_.privileged(whose);
    };
    std::shared_ptr<HttpConnection> oldest;
    Clock::time_point since;
    for (const auto& [pointer, connection] : connections_) {
      const std::optional<Clock::time_point> active = connection->dispensable_since();
      if (active && helps(connection->who()) && (oldest == nullptr || *active < since)) {
        oldest = connection;
        since = *active;
      }
    }
    if (oldest != nullptr) {
      oldest->close();
    }
    return budgets_.has_room(who, Good::Connections);
  }

 private:
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
    const bool welcome = make_room(connection->who());
    connections_.emplace(connection.get(), connection);
    if (welcome) {
      connection->start();
    } else {
      turn_away(connection);
    }
    start_timer();
  }

  /// It is in nobody's budget, so there are few of them.
  void turn_away(const std::shared_ptr<HttpConnection>& connection) {
    if (turned_away_.size() >= kTurnedAway) {
      if (const auto oldest = turned_away_.front().lock()) {
        oldest->close();
      }
    }
    turned_away_.push_back(connection);
    connection->turn_away(used_up(connection->who(), Good::Connections));
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
        self->loop_.native().woken();
        self->timing_ = false;
        self->tick();
      }
    });
  }

  void tick() {
    doors_.retry();
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
  Budgets budgets_;
  Doors doors_;
  boost::asio::steady_timer timer_;
  const Duration interval_;
  OnRefusal on_refusal_;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::deque<std::weak_ptr<HttpConnection>> turned_away_;
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
    : impl_(std::make_shared<Impl>(loop, std::move(handler), limits)) {}

HttpServer::~HttpServer() { impl_->shut_down(); }

void HttpServer::on_refusal(OnRefusal call) { impl_->on_refusal(std::move(call)); }
const Budgets& HttpServer::budgets() const { return impl_->budgets(); }

Result<void> HttpServer::listen_unix(const std::string& path, bool others) {
  Result<UnixListener> listener = UnixListener::open(path, others);
  if (!listener) {
    return Failure(listener.error());
  }
  impl_->doors().add(std::move(*listener));
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
  impl_->doors().add(std::move(*listener), std::move(access));
  return port;
}

}  // namespace berth
