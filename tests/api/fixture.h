// Shared by the tests of the transport: a temporary folder, a server on its own thread, and a
// client that can misbehave.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "api/http_client.h"
#include "api/http_server.h"
#include "api/loop.h"
#include "api/reply_reader.h"
#include "api/sockets.h"
#include "base/fd.h"

namespace berth {

constexpr auto kDeadline = std::chrono::seconds(20);

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = ::testing::TempDir() + "berth-api-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string socket() const { return path_ + "/berth.sock"; }

 private:
  std::string path_;
};

/// A loop on its own thread with a server on a Unix socket.
class TestServer {
 public:
  explicit TestServer(
      HttpServer::Handler handler, HttpServer::Limits limits = {}, Loop::Call before_wait = [] {})
      : server_(std::in_place, loop_, std::move(handler), limits) {
    const Result<void> listening = server_->listen_unix(path(), false);
    EXPECT_TRUE(listening.has_value()) << listening.error().message;
    before_wait_ = std::move(before_wait);
  }
  ~TestServer() { stop(); }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int listen_tcp(TcpAccess access) {
    const Result<int> port = server_->listen_tcp("127.0.0.1:0", std::move(access), false);
    EXPECT_TRUE(port.has_value()) << port.error().message;
    return port.value_or(0);
  }

  TestServer& start() {
    thread_ = std::thread([this] { loop_.run(before_wait_); });
    return *this;
  }

  /// Runs `call` on the loop's thread and waits for it.
  void on_loop(const Loop::Call& call) {
    std::promise<void> done;
    loop_.post([&] {
      call();
      done.set_value();
    });
    ASSERT_EQ(done.get_future().wait_for(kDeadline), std::future_status::ready);
  }

  void destroy_server() {
    on_loop([this] { server_.reset(); });
  }

  void stop() {
    if (thread_.joinable()) {
      loop_.post([this] { loop_.stop(); });
      thread_.join();
    }
  }

  Loop& loop() { return loop_; }
  std::string path() const { return folder_.socket(); }
  HttpClient client() {
    Result<HttpClient> client = HttpClient::connect(path(), kDeadline);
    EXPECT_TRUE(client.has_value()) << client.error().message;
    return std::move(*client);
  }

 private:
  TempFolder folder_;
  Loop loop_;
  Loop::Call before_wait_;
  std::optional<HttpServer> server_;
  std::thread thread_;
};

/// Sends exactly what it is told to send.
class RawClient {
 public:
  static RawClient to_path(const std::string& path) {
    RawClient out(AF_UNIX);
    const Result<UnixAddress> address = unix_address(path);
    EXPECT_EQ(::connect(out.fd(), address->get(), address->size), 0) << errno;
    return out;
  }
  static RawClient to_port(int port) {
    RawClient out(AF_INET);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(out.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return out;
  }

  int fd() const { return socket_.get(); }

  /// Returns how many bytes were taken before the server hung up.
  std::size_t write(std::string_view bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t put = ::send(fd(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (put < 0) {
        break;
      }
      sent += static_cast<std::size_t>(put);
    }
    return sent;
  }
  void end_writing() const { ::shutdown(fd(), SHUT_WR); }

  /// Receives something; false at the end or after the deadline.
  bool read_some() {
    pollfd state{fd(), POLLIN, 0};
    const auto limit = std::chrono::milliseconds(kDeadline).count();
    if (::poll(&state, 1, static_cast<int>(limit)) != 1) {
      ADD_FAILURE() << "nothing came before the deadline";
      return false;
    }
    std::array<char, 65536> part;
    const ssize_t got = ::recv(fd(), part.data(), part.size(), 0);
    text.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return got > 0;
  }
  const std::string& read_to_end() {
    while (read_some()) {
    }
    return text;
  }
  bool read_until(std::string_view wanted) {
    while (text.find(wanted) == std::string::npos) {
      if (!read_some()) {
        return false;
      }
    }
    return true;
  }

  /// The next answer; status 0 when the server hangs up instead.
  HttpReply reply(bool head_only = false) {
    for (;;) {
      const Result<std::optional<ReplyHead>> head = parse_reply_head(text);
      EXPECT_TRUE(head.has_value()) << text.substr(0, 200);
      if (!head) {
        return {};
      }
      if (*head) {
        const std::size_t length = head_only ? 0 : (*head)->length.value_or(0);
        if (text.size() >= (*head)->size + length) {
          HttpReply out{(*head)->status, text.substr((*head)->size, length),
                        text.substr(0, (*head)->size)};
          text.erase(0, (*head)->size + length);
          return out;
        }
      }
      if (!read_some()) {
        return {};
      }
    }
  }

  std::string text;  // received but not used yet

 private:
  explicit RawClient(int family) : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}

  Fd socket_;
};

/// Answers with the contents of the request.
inline void echo(HttpRequest request, std::unique_ptr<Responder> responder) {
  HttpResponse response;
  response.type = "text/plain";
  response.body = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) {
    response.body += " " + name + "=" + value;
  }
  response.body += " " + request.body;
  responder->respond(std::move(response));
}

}  // namespace berth
