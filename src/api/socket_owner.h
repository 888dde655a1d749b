// SocketOwner: finds the user whose process is at the other end of a TCP connection, if that end is
// on this machine. A Unix socket tells this by itself. For TCP, the kernel's table of connections
// does.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace berth {

/// None if the other end is on another machine or its owner is unknown.
std::optional<uid_t> owner_of_other_end(int fd);

/// The owner of the socket from `from` to `to` in the text of /proc/net/tcp or tcp6. Both addresses
/// are written as in that table.
std::optional<uid_t> find_socket_owner(std::string_view table, std::string_view from,
                                       std::string_view to);

}  // namespace berth
