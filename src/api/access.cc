#include "api/access.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/http_text.h"

namespace berth {
namespace {

bool names_this_server(std::string_view host, const TcpAccess& access,
                       std::string_view local_address) {
  return equal_ignoring_case(host, local_address) ||
         std::any_of(access.hosts.begin(), access.hosts.end(),
                     [&](const std::string& known) { return equal_ignoring_case(host, known); });
}

std::optional<Peer> owner_of_token(const TcpAccess& access, std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!equal_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  const std::string_view token = authorization.substr(kScheme.size());
  if (equal_in_constant_time(token, access.token)) {
    return Peer{false, access.user, 0};
  }
  return access.session ? access.session(token) : std::nullopt;
}

bool is_open(const TcpAccess& access, const RequestHead& head) {
  const std::optional<Target> target = parse_target(head.target);
  const std::string_view method = head.method == "HEAD" ? "GET" : std::string_view(head.method);
  return target && std::find(access.open.begin(), access.open.end(),
                             fmt::format("{} {}", method, target->path)) != access.open.end();
}

}  // namespace

std::vector<std::string> host_names(std::string_view host, int port) {
  std::vector<std::string> names;
  for (const std::string_view name : {host, std::string_view("localhost"),
                                      std::string_view("127.0.0.1"), std::string_view("[::1]")}) {
    names.push_back(fmt::format("{}:{}", name, port));
    if (port == 80) {
      names.emplace_back(name);  // the port that http:// goes without
    }
  }
  return names;
}

std::variant<Peer, Refusal> admit(const TcpAccess& access, const RequestHead& head,
                                  std::string_view local_address) {
  if (!names_this_server(head.host, access, local_address)) {
    return Refusal{403, "the Host header does not name this server"};
  }
  if (head.has_origin) {
    constexpr std::string_view kScheme = "http://";
    const std::string_view origin = head.origin;
    if (!equal_ignoring_case(origin.substr(0, kScheme.size()), kScheme) ||
        !equal_ignoring_case(origin.substr(kScheme.size()), head.host)) {
      return Refusal{403, "requests from other origins are refused"};
    }
  }
  if (const std::optional<Peer> owner = owner_of_token(access, head.authorization)) {
    return *owner;
  }
  if (is_open(access, head)) {
    return Peer{};
  }
  return Refusal{401, "send the token as 'Authorization: Bearer TOKEN'"};
}

bool equal_in_constant_time(std::string_view given, std::string_view expected) {
  volatile unsigned char difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? '\0' : expected[i % expected.size()];
    difference = static_cast<unsigned char>(difference | (given[i] ^ other));
  }
  return difference == 0 && !expected.empty();
}

}  // namespace berth
