// SocketOwner: whose process is at the other end of a TCP connection, where that is this machine.
// A Unix socket tells so by itself; of TCP the kernel's table of connections does.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace berth {

/// None where the other end is on another machine, or nobody can tell.
std::optional<uid_t> owner_of_other_end(int fd);

/// The owner of the socket from `from` to `to` in the text of /proc/net/tcp or tcp6, whose way of
/// writing addresses both have.
std::optional<uid_t> find_socket_owner(std::string_view table, std::string_view from,
                                       std::string_view to);

}  // namespace berth
