// Which clients may send requests over TCP. A browser on this machine reaches loopback, too, so a
// page from elsewhere must get nowhere. Pure functions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/request_reader.h"

namespace berth {

inline constexpr uid_t kNobody = static_cast<uid_t>(-1);

/// The client that sends a request.
struct Peer {
  bool local = false;         // over the Unix socket: uid comes from the kernel
  uid_t uid = kNobody;        // over TCP: the user of the token
  std::uint64_t session = 0;  // session of the token; 0: none
  uid_t process = kNobody;    // over TCP without a token: owner of the client process, if known
};

struct TcpAccess {
  std::string token;  // stands for `user`
  uid_t user = kNobody;
  /// Finds the session of a token. May be omitted.
  std::function<std::optional<Peer>(std::string_view token)> session;
  /// Requests that need no token, as "GET /path"; HEAD goes with GET. The client's uid is then
  /// kNobody.
  std::vector<std::string> open;
  std::vector<std::string> hosts;  // `host:port` as a Host header names this server, lower case
};

/// A client without a token need not send a larger body than this.
inline constexpr std::size_t kOpenBodyBytes = 4096;

struct Refusal {
  int status = 403;
  std::string_view message;
};

/// The hosts for a server bound to `host` (brackets around an IPv6 address) and `port`.
std::vector<std::string> host_names(std::string_view host, int port);

/// Checks Host, Origin and token, in that order. `local_address` is this end of the connection, as
/// `address:port`: an address cannot be rebound the way that a name can.
std::variant<Peer, Refusal> admit(const TcpAccess& access, const RequestHead& head,
                                  std::string_view local_address);

/// Takes as long for a wrong text as for the right one, so that a guess reveals nothing.
bool equal_in_constant_time(std::string_view given, std::string_view expected);

}  // namespace berth
