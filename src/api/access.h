// Who may ask over TCP: a browser on this machine reaches loopback, too, so a page from elsewhere
// must get nowhere. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/request_reader.h"

namespace berth {

struct TcpAccess {
  std::string token;
  std::vector<std::string> hosts;  // `host:port` as a Host header names this server, lower case
};

struct Refusal {
  int status = 403;
  std::string_view message;
};

/// The hosts for a server bound to `host` (brackets around an IPv6 address) and `port`.
std::vector<std::string> host_names(std::string_view host, int port);

/// Checks Host, Origin and token, in that order. `local_address` is this end of the connection, as
/// `address:port`: an address cannot be rebound the way that a name can.
std::optional<Refusal> refuse(const TcpAccess& access, const RequestHead& head,
                              std::string_view local_address);

/// Takes as long for a wrong text as for the right one, so that a guess learns nothing.
bool equal_in_constant_time(std::string_view given, std::string_view expected);

}  // namespace berth
