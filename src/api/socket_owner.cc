#include "api/socket_owner.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/read_file.h"

namespace berth {
namespace {

/// As the kernel's tables write an end: words of four bytes as this machine reads them, and the
/// port. IPv4 stands there as itself or, of sockets that speak both, inside an IPv6 address.
struct End {
  std::string four;
  std::string six;
};

std::string words(const void* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, static_cast<const char*>(bytes) + 4 * i, sizeof word);
    text += fmt::format("{:08X}", word);
  }
  return text;
}

End end_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    const std::string port = fmt::format(":{:04X}", ntohs(four.sin_port));
    std::array<std::uint32_t, 3> mapped{0, 0, htonl(0xffff)};
    const std::string text = words(&four.sin_addr, 1);
    return {text + port, words(mapped.data(), mapped.size()) + text + port};
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  const std::string port = fmt::format(":{:04X}", ntohs(six.sin6_port));
  const std::string text = words(&six.sin6_addr, 4);
  const bool mapped = IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
  return {mapped ? text.substr(24) + port : "", text + port};
}

std::optional<uid_t> look_up(const std::string& path, std::string_view from, std::string_view to) {
  const Result<std::string> table = read_file(path);
  return table ? find_socket_owner(*table, from, to) : std::nullopt;
}

}  // namespace

std::optional<uid_t> find_socket_owner(std::string_view table, std::string_view from,
                                       std::string_view to) {
  constexpr std::size_t kFrom = 1;
  constexpr std::size_t kTo = 2;
  constexpr std::size_t kUid = 7;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    std::string_view line = table.substr(0, end);
    table.remove_prefix(std::min(end + 1, table.size()));
    std::vector<std::string_view> fields;
    while (fields.size() <= kUid) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.empty()) {
        break;
      }
      const std::size_t size = std::min(line.find(' '), line.size());
      fields.push_back(line.substr(0, size));
      line.remove_prefix(size);
    }
    if (fields.size() > kUid && fields[kFrom] == from && fields[kTo] == to) {
      const std::string_view digits = fields[kUid];
      uid_t uid = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), uid);
      return read.ec == std::errc() ? std::optional(uid) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<uid_t> owner_of_other_end(int fd) {
  sockaddr_storage here{};
  sockaddr_storage there{};
  socklen_t here_size = sizeof here;
  socklen_t there_size = sizeof there;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) {
    return std::nullopt;
  }
  const End to = end_of(here);
  const End from = end_of(there);
  if (!from.four.empty()) {
    if (const std::optional<uid_t> owner = look_up("/proc/self/net/tcp", from.four, to.four)) {
      return owner;
    }
  }
  return look_up("/proc/self/net/tcp6", from.six, to.six);
}

}  // namespace berth
