// The sockets that a server listens on, also while no client can be taken.
#include "api/doors.h"

#include <sys/socket.h>

#include "fixture.h"

namespace berth {
namespace {

class DoorsTest : public ::testing::Test {
 protected:
  DoorsTest() {
    Result<UnixListener> listener = UnixListener::open(folder_.socket(), false);
    EXPECT_TRUE(listener.has_value());
    doors_.add(std::move(*listener));
  }

  /// Until something stops the loop.
  void run() {
    loop_.set_alarm(kDeadline, [this] {
      ADD_FAILURE() << "nothing happened before the deadline";
      loop_.stop();
    });
    loop_.run([] {});
  }
  /// For as long as there are calls.
  void run_what_is_due() {
    loop_.set_alarm(std::chrono::milliseconds(20), [this] { loop_.stop(); });
    loop_.run([] {});
  }

  TempFolder folder_;
  Loop loop_;
  std::vector<Fd> clients_;
  bool by_unix_ = false;
  int exhausted_ = 0;
  Doors doors_{loop_,
               [this](Fd client, const std::shared_ptr<const TcpAccess>& access) {
                 clients_.push_back(std::move(client));
                 by_unix_ = access == nullptr;
                 loop_.stop();
               },
               [this] {
                 ++exhausted_;
                 loop_.stop();
               }};
};

TEST_F(DoorsTest, LetClientsInByEachOfThem) {
  Result<TcpListener> listener = listen_on_tcp("127.0.0.1:0", false);
  ASSERT_TRUE(listener.has_value());
  const int port = listener->port;
  doors_.add(std::move(*listener), TcpAccess{});
  const RawClient near = RawClient::to_path(folder_.socket());
  run();
  EXPECT_TRUE(by_unix_);
  const RawClient far = RawClient::to_port(port);
  run();
  EXPECT_FALSE(by_unix_);
  EXPECT_EQ(clients_.size(), 2U);
}

// A TCP socket that has been shut down stands for a system without descriptors, which sanitizers
// need themselves: accept() fails for good.
TEST_F(DoorsTest, NobodyListensAfterAFailureUntilARetry) {
  Result<TcpListener> listener = listen_on_tcp("127.0.0.1:0", false);
  ASSERT_TRUE(listener.has_value());
  ASSERT_EQ(::shutdown(listener->fd.get(), SHUT_RDWR), 0);
  doors_.add(std::move(*listener), TcpAccess{});
  run();
  run_what_is_due();
  EXPECT_EQ(exhausted_, 1);  // instead of again and again
  const RawClient client = RawClient::to_path(folder_.socket());
  run_what_is_due();
  EXPECT_TRUE(clients_.empty());
  doors_.retry();
  run();  // until the client comes in or accept() fails again, whichever is first
  EXPECT_TRUE(clients_.size() == 1 || exhausted_ == 2);
}

TEST_F(DoorsTest, StayShutOnceClosed) {
  doors_.close();
  const RawClient client = RawClient::to_path(folder_.socket());  // the socket is still there
  doors_.retry();
  run_what_is_due();
  EXPECT_TRUE(clients_.empty());
}

}  // namespace
}  // namespace berth
