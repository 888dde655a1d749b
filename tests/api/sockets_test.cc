#include "api/sockets.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "fixture.h"

namespace berth {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat file {};
  EXPECT_EQ(::lstat(path.c_str(), &file), 0);
  return file.st_mode & 07777;
}

TEST(UnixListener, IsTheOwnersUnlessOthersMay) {
  const mode_t before = ::umask(0);
  const TempFolder folder;
  {
    const Result<UnixListener> listener = UnixListener::open(folder.socket(), false);
    ASSERT_TRUE(listener.has_value()) << listener.error().message;
    EXPECT_EQ(mode_of(folder.socket()), 0600U);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.socket()));
  ::umask(077);
  {
    const Result<UnixListener> listener = UnixListener::open(folder.socket(), true);
    ASSERT_TRUE(listener.has_value()) << listener.error().message;
    EXPECT_EQ(mode_of(folder.socket()), 0666U);
  }
  ::umask(before);
}

TEST(UnixListener, ReplacesASocketThatNobodyListensOn) {
  const TempFolder folder;
  const Result<UnixAddress> address = unix_address(folder.socket());
  {
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(dead.get(), address->get(), address->size), 0);
    ASSERT_EQ(::listen(dead.get(), 1), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(folder.socket()));
  const Result<UnixListener> listener = UnixListener::open(folder.socket(), false);
  EXPECT_TRUE(listener.has_value());
}

TEST(UnixListener, LeavesALivingOneAlone) {
  const TempFolder folder;
  const Result<UnixListener> first = UnixListener::open(folder.socket(), false);
  ASSERT_TRUE(first.has_value());
  const Result<UnixListener> second = UnixListener::open(folder.socket(), false);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::Refused);
  EXPECT_TRUE(HttpClient::connect(folder.socket()).has_value());
}

TEST(UnixListener, NeverDeletesWhatIsNoSocket) {
  const TempFolder folder;
  std::ofstream(folder.socket()) << "precious";
  const Result<UnixListener> onto_file = UnixListener::open(folder.socket(), false);
  ASSERT_FALSE(onto_file.has_value());
  EXPECT_EQ(onto_file.error().code, ErrorCode::Refused);
  const std::string link = folder.path() + "/link";
  std::filesystem::create_symlink(folder.socket(), link);
  EXPECT_FALSE(UnixListener::open(link, false).has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::string text;
  std::ifstream(folder.socket()) >> text;
  EXPECT_EQ(text, "precious");
}

TEST(UnixListener, LeavesTheFileOfAnotherBehind) {
  const TempFolder folder;
  {
    const Result<UnixListener> first = UnixListener::open(folder.socket(), false);
    ASSERT_TRUE(first.has_value());
    std::filesystem::remove(folder.socket());
    std::ofstream(folder.socket()) << "another";
  }
  EXPECT_TRUE(std::filesystem::exists(folder.socket()));
}

TEST(UnixListener, TakesLongPaths) {
  const TempFolder folder;
  const std::string deep = folder.path() + "/" + std::string(120, 'd');
  std::filesystem::create_directory(deep);
  const std::string path = deep + "/berth.sock";
  const Result<UnixListener> listener = UnixListener::open(path, false);
  ASSERT_TRUE(listener.has_value()) << listener.error().message;
  EXPECT_TRUE(HttpClient::connect(path).has_value());
}

struct AddressCase {
  const char* name;
  const char* address;
  bool force;
  std::optional<ErrorCode> error;
};

class TcpAddresses : public ::testing::TestWithParam<AddressCase> {};

TEST_P(TcpAddresses, AreTakenOrRefused) {
  const AddressCase& row = GetParam();
  const Result<TcpListener> listener = listen_on_tcp(row.address, row.force);
  if (listener) {
    EXPECT_FALSE(row.error.has_value());
    EXPECT_GT(listener->port, 0);
  } else if (listener.error().code == ErrorCode::Io) {
    GTEST_SKIP() << listener.error().message;  // no IPv6 here
  } else {
    EXPECT_EQ(listener.error().code, row.error) << listener.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Api, TcpAddresses,
    ::testing::Values(AddressCase{"loopback", "127.0.0.1:0", false, {}},
                      AddressCase{"other_loopback", "127.1.2.3:0", false, {}},
                      AddressCase{"localhost", "localhost:0", false, {}},
                      AddressCase{"loopback_6", "[::1]:0", false, {}},
                      AddressCase{"all", "0.0.0.0:0", false, ErrorCode::Refused},
                      AddressCase{"all_6", "[::]:0", false, ErrorCode::Refused},
                      AddressCase{"network", "192.0.2.1:0", false, ErrorCode::Refused},
                      AddressCase{"all_forced", "0.0.0.0:0", true, {}},
                      AddressCase{"no_port", "127.0.0.1", false, ErrorCode::Usage},
                      AddressCase{"no_host", ":8750", false, ErrorCode::Usage},
                      AddressCase{"bad_port", "127.0.0.1:x", false, ErrorCode::Usage},
                      AddressCase{"large_port", "127.0.0.1:65536", false, ErrorCode::Usage},
                      AddressCase{"bare_6", "::1:8750", false, ErrorCode::Usage},
                      AddressCase{"empty", "", false, ErrorCode::Usage}),
    [](const auto& row) { return row.param.name; });

TEST(HttpServerOnTcp, NeedsAToken) {
  Loop loop;
  HttpServer server(loop, echo);
  const Result<int> port = server.listen_tcp("127.0.0.1:0", TcpAccess{}, false);
  ASSERT_FALSE(port.has_value());
  EXPECT_EQ(port.error().code, ErrorCode::Usage);
}

}  // namespace
}  // namespace berth
