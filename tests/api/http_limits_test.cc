// What clients may do wrong without harm to the server or to others.
#include <sys/resource.h>

#include <atomic>
#include <deque>

#include "base/random.h"
#include "fixture.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

/// Malformed requests: the answer is 400 and the end of the connection.
struct BadCase {
  const char* name;
  std::string request;
  int status;
};

class BadRequests : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadRequests, AreRefusedAndClosed) {
  TestServer server(echo);
  RawClient client = RawClient::to_path(server.start().path());
  client.write(GetParam().request);
  EXPECT_EQ(client.reply().status, GetParam().status);
  EXPECT_EQ(client.read_to_end(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Api, BadRequests,
    ::testing::Values(
        BadCase{"garbage", "\x16\x03\x01 hello\r\n\r\n", 400},
        BadCase{"no_version", "GET /\r\n\r\n", 400},
        BadCase{"http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
        BadCase{"bad_target", "GET /%zz HTTP/1.1\r\n\r\n", 400},
        BadCase{"absolute_target", "GET http://a/ HTTP/1.1\r\n\r\n", 400},
        BadCase{"bad_field", "GET / HTTP/1.1\r\nbad field: x\r\n\r\n", 400},
        BadCase{"two_hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        BadCase{"bad_length", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400},
        BadCase{"two_lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                400},
        BadCase{"length_and_chunks",
                "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        BadCase{"other_coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
        BadCase{"bad_chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
        BadCase{"large_header", "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n",
                431},
        BadCase{"large_target", "GET /" + std::string(1 << 20, 'x') + " HTTP/1.1\r\n\r\n", 431},
        BadCase{
            "endless_chunk_extension",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(1 << 20, 'x'),
            431}),
    [](const auto& row) { return row.param.name; });

TEST(HttpLimits, ManySmallHeadersCountTogether) {
  TestServer server(echo);
  RawClient client = RawClient::to_path(server.start().path());
  std::string request = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 300; ++i) {  // each arrives by itself
    client.write(request);
    request = "X-" + std::to_string(i) + ": " + std::string(100, 'x') + "\r\n";
    server.on_loop([] {});
  }
  EXPECT_EQ(client.reply().status, 431);
}

TEST(HttpLimits, ALargeBodyIsRefusedWithAnAnswer) {
  HttpServer::Limits limits;
  limits.body_bytes = 1 << 20;
  TestServer server(echo, limits);
  server.start();
  const std::string body(10 << 20, 'x');
  HttpClient client = server.client();
  const Result<HttpReply> reply = client.send("POST", "/", body);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->status, 413);
  EXPECT_FALSE(client.send("GET", "/", "").has_value());
  RawClient chunked = RawClient::to_path(server.path());
  chunked.write("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\na00000\r\n");
  chunked.write(body);
  EXPECT_EQ(chunked.reply().status, 413);
  EXPECT_EQ(server.client().send("POST", "/", std::string(1 << 20, 'x'))->status, 200);
}

TEST(HttpLimits, ASlowClientIsTimedOutAndDisturbsNobody) {
  HttpServer::Limits limits;
  limits.idle = std::chrono::milliseconds(200);
  TestServer server(echo, limits);
  server.start();
  RawClient slow = RawClient::to_path(server.path());
  RawClient silent = RawClient::to_path(server.path());
  const std::string_view request = "GET /a-long-way HTTP/1.1\r\nHost: localhost\r\nX: ";
  const auto start = Clock::now();
  std::size_t sent = 0;
  int answered = 0;
  pollfd state{slow.fd(), POLLIN, 0};
  while (::poll(&state, 1, 5) == 0 && Clock::now() - start < kDeadline) {  // a byte every 5 ms
    slow.write(sent < request.size() ? request.substr(sent, 1) : "x");
    ++sent;
    const Result<HttpReply> reply = server.client().send("GET", "/", "");
    answered += reply.has_value() && reply->status == 200 ? 1 : 0;
  }
  EXPECT_EQ(static_cast<std::size_t>(answered), sent);
  EXPECT_EQ(slow.reply().status, 408);
  EXPECT_EQ(silent.read_to_end(), "");
}

TEST(HttpLimits, ARequestThatWaitsForItsAnswerIsNotTimedOut) {
  HttpServer::Limits limits;
  limits.idle = std::chrono::milliseconds(20);
  std::unique_ptr<Responder> kept;
  TestServer server([&](const HttpRequest&,
                        std::unique_ptr<Responder> responder) { kept = std::move(responder); },
                    limits);
  RawClient client = RawClient::to_path(server.start().path());
  client.write("GET / HTTP/1.1\r\n\r\n");
  // Others come and are timed out, several times over.
  for (int i = 0; i < 3; ++i) {
    RawClient::to_path(server.path()).read_to_end();
  }
  server.on_loop([&] { kept->respond({}); });
  EXPECT_EQ(client.reply().status, 200);
}

TEST(HttpLimits, AThousandConnectionsLeaveRoomForAnother) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < 2500) {
    GTEST_SKIP() << "too few descriptors";
  }
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, 2500);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  TestServer server(echo);
  server.start();
  std::deque<RawClient> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(RawClient::to_path(server.path()));
    clients.back().write("GET /half HTTP/1.1\r\nX: ");
  }
  const auto start = Clock::now();
  ASSERT_TRUE(server.client().send("GET", "/", "").has_value());
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  for (RawClient& client : clients) {
    client.write("y\r\n\r\n");
  }
  for (RawClient& client : clients) {
    ASSERT_EQ(client.reply().body, "GET /half ");
  }
}

TEST(HttpLimits, AConnectionAboveTheLimitTakesThePlaceOfTheOneIdleLongest) {
  HttpServer::Limits limits;
  limits.budgets[Good::Connections].all = 2;
  TestServer server(echo, limits);
  server.start();
  HttpClient first = server.client();
  HttpClient second = server.client();
  ASSERT_TRUE(second.send("GET", "/2", "").has_value());
  ASSERT_TRUE(first.send("GET", "/1", "").has_value());
  HttpClient third = server.client();
  EXPECT_EQ(third.send("GET", "/3", "")->body, "GET /3 ");
  EXPECT_TRUE(first.send("GET", "/1", "").has_value());
  EXPECT_FALSE(second.send("GET", "/2", "").has_value());
}

TEST(HttpLimits, WhereNoneIsIdleANewConnectionIsToldToTryAgain) {
  HttpServer::Limits limits;
  limits.budgets[Good::Connections].all = 2;
  TestServer server(echo, limits);
  server.start();
  std::deque<RawClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(RawClient::to_path(server.path()));
    // The answer to the whole request tells that the half one has been read with it.
    clients.back().write("GET /whole HTTP/1.1\r\n\r\nGET /half HTTP/1.1\r\nX: ");
    ASSERT_EQ(clients.back().reply().body, "GET /whole ");
  }
  for (int i = 0; i < 200; ++i) {  // many more than may wait to read why
    RawClient refused = RawClient::to_path(server.path());
    refused.write("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}");
    const HttpReply reply = refused.reply();
    ASSERT_EQ(reply.status, 503);
    EXPECT_NE(reply.head.find("Retry-After: "), std::string::npos);
    EXPECT_NE(reply.body.find("connections"), std::string::npos);
  }
  for (RawClient& client : clients) {
    client.write("y\r\n\r\n");
    EXPECT_EQ(client.reply().body, "GET /half ");
  }
}

TEST(HttpLimits, StrangersHaveFewConnectionsAndLittleTime) {
  HttpServer::Limits limits;
  limits.budgets[Good::Connections].strangers = 2;
  limits.stranger_idle = std::chrono::milliseconds(50);
  TestServer server(echo, limits);
  TcpAccess access;
  access.token = "token";
  access.user = ::getuid();
  const int port = server.listen_tcp(access);
  server.start();
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  RawClient known = RawClient::to_port(port);
  known.write("GET /1 HTTP/1.1\r\nAuthorization: Bearer token\r\n" + host + "\r\n");
  EXPECT_EQ(known.reply().body, "GET /1 ");
  std::deque<RawClient> strangers;
  for (int i = 0; i < 5; ++i) {
    strangers.push_back(RawClient::to_port(port));
    strangers.back().write("GET /half HTTP/1.1\r\nX: ");
  }
  for (int i = 0; i < 3; ++i) {  // made room for the others
    EXPECT_EQ(strangers[static_cast<std::size_t>(i)].reply().status, 0);
  }
  EXPECT_EQ(strangers.back().reply().status, 408);  // in much less than a minute
  known.write("GET /2 HTTP/1.1\r\nAuthorization: Bearer token\r\n" + host + "\r\n");
  EXPECT_EQ(known.reply().body, "GET /2 ");
}

TEST(HttpLimits, BodiesThatHaveNotArrivedShareABudget) {
  HttpServer::Limits limits;
  limits.budgets[Good::RequestBytes].all = 1 << 20;
  TestServer server(echo, limits);
  server.start();
  RawClient first = RawClient::to_path(server.path());
  first.write("POST / HTTP/1.1\r\nContent-Length: 800000\r\n\r\n" + std::string(700000, 'x'));
  server.on_loop([] {});
  RawClient second = RawClient::to_path(server.path());
  second.write("POST / HTTP/1.1\r\nContent-Length: 800000\r\n\r\n" + std::string(700000, 'x'));
  EXPECT_EQ(second.reply().status, 503);
  first.write(std::string(100000, 'x'));
  EXPECT_EQ(first.reply().body.size(), 800007U);
  // More than the budget will never fit: that is no matter of trying again.
  RawClient large = RawClient::to_path(server.path());
  large.write("POST / HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n" + std::string(1500000, 'x'));
  EXPECT_EQ(large.reply().status, 413);
  EXPECT_EQ(server.client().send("POST", "/", std::string(800000, 'x'))->status, 200);
}

TEST(HttpLimits, AnswersThatNobodyReadsShareABudget) {
  HttpServer::Limits limits;
  limits.budgets[Good::AnswerBytes].all = 4 << 20;
  TestServer server(
      [](const HttpRequest& request, std::unique_ptr<Responder> responder) {
        HttpResponse response;
        response.body = std::string(request.path == "/small" ? 10 : 1 << 20, 'x');
        responder->respond(std::move(response));
      },
      limits);
  server.start();
  std::deque<RawClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(RawClient::to_path(server.path()));
    clients.back().write("GET /large HTTP/1.1\r\n\r\n");
  }
  server.on_loop([] {});
  EXPECT_EQ(server.client().send("GET", "/small", "")->status, 200);
  int whole = 0;
  int refused = 0;
  for (RawClient& client : clients) {
    const int status = client.reply().status;
    whole += status == 200 ? 1 : 0;
    refused += status == 503 ? 1 : 0;
  }
  EXPECT_GE(whole, 3);
  EXPECT_GE(refused, 1);
  EXPECT_EQ(whole + refused, 8);
  EXPECT_EQ(server.client().send("GET", "/large", "")->status, 200);
}

TEST(HttpLimits, StreamsAboveTheLimitAreRefused) {
  HttpServer::Limits limits;
  limits.budgets[Good::Streams].all = 1;
  std::vector<std::shared_ptr<EventStream>> streams;
  TestServer server(
      [&](const HttpRequest&, std::unique_ptr<Responder> responder) {
        streams.push_back(responder->stream());
      },
      limits);
  server.start();
  RawClient first = RawClient::to_path(server.path());
  first.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(first.read_until("text/event-stream"));
  RawClient second = RawClient::to_path(server.path());
  second.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(second.reply().status, 503);
  server.on_loop([&] {
    EXPECT_FALSE(streams[1]->send(1, "job", "{}"));
    EXPECT_TRUE(streams[0]->send(1, "job", "{}"));
    streams.clear();
  });
  first.read_to_end();
  RawClient third = RawClient::to_path(server.path());
  third.write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(third.read_until("text/event-stream"));
  server.stop();
}

/// Requests that nearly are: pieces of real ones, mixed and damaged.
std::string garbage(Random& random) {
  constexpr std::string_view kPieces[] = {"GET ",
                                          "POST ",
                                          "/v1/jobs",
                                          "?a=%4",
                                          " HTTP/1.1",
                                          " HTTP/9.9",
                                          "\r\n",
                                          "\r\n\r\n",
                                          "\n",
                                          "Host: x",
                                          "Host:",
                                          "Content-Length: ",
                                          "99999999999",
                                          "-1",
                                          "5",
                                          "Transfer-Encoding: chunked",
                                          "ffffffffffffffff",
                                          "0\r\n\r\n",
                                          ": ",
                                          "\t folded",
                                          "Connection: close",
                                          "Expect: 100-continue",
                                          "Authorization: Bearer ",
                                          "a;b=\"c\"",
                                          "3\r\nabc\r\n",
                                          "%00",
                                          " "};
  std::string out = random.below(2) == 0 ? "" : "GET / HTTP/1.1\r\n";
  const std::uint64_t pieces = 1 + random.below(12);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    if (random.below(8) == 0) {
      out += static_cast<char>(random.below(256));
    } else {
      out += kPieces[random.below(std::size(kPieces))];
    }
  }
  if (random.below(4) == 0) {
    out[random.below(out.size())] = static_cast<char>(random.below(256));
  }
  return out;
}

TEST(HttpLimits, GarbageDoesNotBringTheServerDown) {
  std::atomic<int> handled = 0;
  TestServer server([&](const HttpRequest&, std::unique_ptr<Responder> responder) {
    ++handled;
    responder->respond({});
  });
  server.start();
  Random random(20240607);
  for (int i = 0; i < 10000; ++i) {
    RawClient client = RawClient::to_path(server.path());
    const std::string text = garbage(random);
    const std::size_t cut = random.below(text.size() + 1);
    client.write(std::string_view(text).substr(0, cut));
    client.write(std::string_view(text).substr(cut));
    client.end_writing();
    client.read_to_end();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << i << ": " << text;
  }
  EXPECT_GT(handled, 0);
  const Result<HttpReply> reply = server.client().send("GET", "/", "");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 200);
}

}  // namespace
}  // namespace berth
