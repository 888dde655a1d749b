#include "api/socket_owner.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

namespace berth {
namespace {

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    "   0: 0100007F:46A2 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0  0 82526\n"
    "   1: 0100007F:B001 0100007F:46A2 01 00000000:00000000 00:00000000 00000000  1000  0 82720\n"
    "   2: 0100007F:46A2 0100007F:B001 01 00000000:00000000 00:00000000 00000000  1001  0 82721\n"
    "   3: short line\n";

TEST(SocketOwner, IsThatOfTheOtherEnd) {
  EXPECT_EQ(find_socket_owner(kTable, "0100007F:B001", "0100007F:46A2"), uid_t{1000});
  EXPECT_EQ(find_socket_owner(kTable, "0100007F:46A2", "0100007F:B001"), uid_t{1001});
  EXPECT_FALSE(find_socket_owner(kTable, "0100007F:B002", "0100007F:46A2").has_value());
  EXPECT_FALSE(find_socket_owner("", "0100007F:B001", "0100007F:46A2").has_value());
}

/// A connection over loopback of the client's family to a server that speaks both or IPv4 alone.
std::optional<uid_t> owner_of_client(int server_family, int client_family) {
  const auto address = [](int family, bool any) {
    sockaddr_storage out{};
    out.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
      reinterpret_cast<sockaddr_in&>(out).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
      reinterpret_cast<sockaddr_in6&>(out).sin6_addr = any ? in6addr_any : in6addr_loopback;
    }
    return out;
  };
  const Fd server(::socket(server_family, SOCK_STREAM, 0));
  sockaddr_storage bound = address(server_family, true);
  socklen_t size = sizeof bound;
  EXPECT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&bound), size), 0);
  EXPECT_EQ(::listen(server.get(), 1), 0);
  EXPECT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
  const in_port_t port = reinterpret_cast<sockaddr_in&>(bound).sin_port;  // of both families there
  sockaddr_storage target = address(client_family, false);
  reinterpret_cast<sockaddr_in&>(target).sin_port = port;
  const Fd client(::socket(client_family, SOCK_STREAM, 0));
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&target),
                      client_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)),
            0);
  const Fd accepted(::accept(server.get(), nullptr, nullptr));
  return owner_of_other_end(accepted.get());
}

TEST(SocketOwner, ReadsTheKernelsTable) {
  EXPECT_EQ(owner_of_client(AF_INET, AF_INET), ::geteuid());
}

TEST(SocketOwner, ReadsItOfIpv6) {
  if (!Fd(::socket(AF_INET6, SOCK_STREAM, 0))) {
    GTEST_SKIP() << "no IPv6 here";
  }
  EXPECT_EQ(owner_of_client(AF_INET6, AF_INET6), ::geteuid());
  EXPECT_EQ(owner_of_client(AF_INET6, AF_INET), ::geteuid());
}

TEST(SocketOwner, NobodyOwnsWhatIsNoConnection) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_FALSE(owner_of_other_end(socket.get()).has_value());
  EXPECT_FALSE(owner_of_other_end(-1).has_value());
}

}  // namespace
}  // namespace berth
