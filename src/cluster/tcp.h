// Plain TCP with deadlines, for single lines.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"

namespace berth {

/// Listens on all addresses.
Result<Fd> listen_on(int port);
/// The error says whether the name does not resolve (NotFound), or what the network said.
Result<Fd> connect_to(const std::string& host, int port, Duration patience);
Result<void> send_line(int socket, std::string_view line);
/// Up to the first newline, at most `most` bytes; Timeout when it takes longer than `patience`.
Result<std::string> receive_line(int socket, std::size_t most, Duration patience);

/// Whether the name has an address.
bool resolves(const std::string& host);

/// "head:6817" in its two parts; `otherwise` where no port is given.
struct HostPort {
  std::string host;
  int port = 0;
};
Result<HostPort> parse_host(std::string_view text, int otherwise);

}  // namespace berth
