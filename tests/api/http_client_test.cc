#include "api/http_client.h"

#include "fixture.h"

namespace berth {
namespace {

/// Answers one connection with fixed text, then hangs up.
class Scripted {
 public:
  explicit Scripted(std::string answer, bool hang_up = true)
      : listener_(UnixListener::open(folder_.socket(), false)) {
    EXPECT_TRUE(listener_.has_value());
    thread_ = std::thread([this, answer = std::move(answer), hang_up] {
      pollfd state{listener_->fd(), POLLIN, 0};
      ::poll(&state, 1, 20000);
      const Fd peer(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC));
      char letter = 0;
      EXPECT_EQ(::recv(peer.get(), &letter, 1, 0), 1);
      EXPECT_EQ(::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(answer.size()));
      if (hang_up) {
        ::shutdown(peer.get(), SHUT_WR);
      }
      while (::recv(peer.get(), &letter, 1, 0) == 1) {
      }
    });
  }
  ~Scripted() { thread_.join(); }

  HttpClient client(Duration patience = kDeadline) {
    return std::move(*HttpClient::connect(folder_.socket(), patience));
  }

 private:
  TempFolder folder_;
  Result<UnixListener> listener_;
  std::thread thread_;
};

TEST(HttpClient, SaysWhatToDoWhenNobodyListens) {
  const TempFolder folder;
  const Result<HttpClient> client = HttpClient::connect(folder.socket());
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, ErrorCode::Unavailable);
  EXPECT_NE(client.error().message.find("berth daemon start"), std::string::npos);
}

TEST(HttpClient, ReadsUntilTheEndWithoutALength) {
  Scripted server("HTTP/1.1 200 OK\r\n\r\nall of it");
  HttpClient client = server.client();
  const Result<HttpReply> reply = client.send("GET", "/", "");
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->body, "all of it");
  EXPECT_EQ(client.send("GET", "/", "").error().code, ErrorCode::Unavailable);
}

struct BrokenCase {
  const char* name;
  const char* answer;
};

class BrokenAnswers : public ::testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenAnswers, AreErrors) {
  Scripted server(GetParam().answer);
  HttpClient client = server.client();
  const Result<HttpReply> reply = client.send("GET", "/", "");
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
}

INSTANTIATE_TEST_SUITE_P(
    Api, BrokenAnswers,
    ::testing::Values(BrokenCase{"none", ""}, BrokenCase{"half_a_head", "HTTP/1.1 200 OK\r\nCont"},
                      BrokenCase{"half_a_body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"},
                      BrokenCase{"other_protocol", "220 mail ready\r\n\r\n"}),
    [](const auto& row) { return row.param.name; });

TEST(HttpClient, LosesPatience) {
  Scripted server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", false);
  HttpClient client = server.client(std::chrono::milliseconds(30));
  const Result<HttpReply> reply = client.send("GET", "/", "");
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
}

TEST(HttpClient, TellsWhichOfManyWereAnswered) {
  Scripted server(
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb");
  HttpClient client = server.client();
  std::string replies;
  const Result<void> sent =
      client.send_all("POST", "/", std::vector<std::string>(5),
                      [&](std::size_t, const HttpReply& reply) { replies += reply.body; });
  EXPECT_FALSE(sent.has_value());
  EXPECT_EQ(replies, "ab");
}

TEST(HttpClient, FollowsForAsLongAsItIsTold) {
  Scripted server("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: x\n\n",
                  false);
  HttpClient client = server.client();
  int events = 0;
  const Result<void> followed = client.follow(
      "/v1/events", "",
      [&](auto, auto, auto) {
        ++events;
        return true;
      },
      std::chrono::milliseconds(500));
  ASSERT_FALSE(followed.has_value());
  EXPECT_EQ(followed.error().code, ErrorCode::Timeout);
  EXPECT_EQ(events, 1);
}

TEST(HttpClient, AnAnswerThatIsNoStreamIsRefused) {
  Scripted server("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
  HttpClient client = server.client();
  const Result<void> followed =
      client.follow("/v1/events", "", [](auto, auto, auto) { return true; });
  ASSERT_FALSE(followed.has_value());
  EXPECT_EQ(followed.error().code, ErrorCode::Refused);
  EXPECT_EQ(followed.error().message, "none");
}

TEST(HttpClient, SendsNoTargetThatWouldBeAnotherRequest) {
  TestServer server(echo);
  HttpClient client = server.start().client();
  EXPECT_EQ(client.send("GET", "/a b", "").error().code, ErrorCode::Usage);
  EXPECT_EQ(client.send("GET", "/a\r\nX: y", "").error().code, ErrorCode::Usage);
  EXPECT_EQ(client.send("GET", "/a", "")->body, "GET /a ");
}

}  // namespace
}  // namespace berth
