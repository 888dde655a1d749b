#include "api/http_server.h"

#include <unistd.h>

#include <atomic>
#include <deque>
#include <vector>

#include "fixture.h"

namespace berth {
namespace {

HttpResponse text(std::string body) {
  HttpResponse response;
  response.type = "text/plain";
  response.body = std::move(body);
  return response;
}

TEST(HttpServer, AnswersRequests) {
  TestServer server(echo);
  HttpClient client = server.start().client();
  const struct {
    const char* method;
    const char* target;
    const char* body;
    const char* expected;
  } cases[] = {
      {"GET", "/v1/jobs", "", "GET /v1/jobs "},
      {"GET", "/a%20b?state=queued&n=1+2", "", "GET /a b state=queued n=1 2 "},
      {"POST", "/v1/jobs", "{}", "POST /v1/jobs {}"},
      {"POST", "/v1/jobs", "", "POST /v1/jobs "},
      {"DELETE", "/v1/jobs/1", "", "DELETE /v1/jobs/1 "},
      {"BREW", "/pot", "", "BREW /pot "},
      {"OPTIONS", "*", "", "OPTIONS * "},
      {"HEAD", "/v1/jobs", "", ""},
  };
  for (const auto& c : cases) {  // over one connection
    const Result<HttpReply> reply = client.send(c.method, c.target, c.body);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, c.expected);
  }
}

TEST(HttpServer, SaysWhatABrowserNeedsAndNoMore) {
  TestServer server(echo);
  RawClient client = RawClient::to_path(server.start().path());
  client.write("HEAD /x HTTP/1.1\r\nOrigin: http://elsewhere\r\n\r\n");
  client.end_writing();
  EXPECT_EQ(client.read_to_end(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n");
}

TEST(HttpServer, KnowsThePeer) {
  Peer seen;
  TestServer server([&](const HttpRequest& request, std::unique_ptr<Responder> responder) {
    seen = request.peer;
    responder->respond({});
  });
  ASSERT_TRUE(server.start().client().send("GET", "/", "").has_value());
  server.stop();
  EXPECT_TRUE(seen.local);
  EXPECT_EQ(seen.uid, ::getuid());
}

TEST(HttpServer, ClosesWhenAskedTo) {
  TestServer server(echo);
  server.start();
  for (const char* request :
       {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawClient client = RawClient::to_path(server.path());
    client.write(request);
    EXPECT_NE(client.read_to_end().find("Connection: close\r\n"), std::string::npos);
  }
}

TEST(HttpServer, TakesBodiesInPiecesAndChunks) {
  TestServer server(echo);
  RawClient client = RawClient::to_path(server.start().path());
  client.write("POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhe");
  client.write("lloPOST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab");
  client.write("c\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.reply().body, "POST /a hello");
  EXPECT_EQ(client.reply().body, "POST /b abcde");
}

TEST(HttpServer, TellsAWaitingClientToContinue) {
  TestServer server(echo);
  RawClient client = RawClient::to_path(server.start().path());
  client.write("POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.reply().status, 100);
  client.write("hello");
  EXPECT_EQ(client.reply().body, "POST /a hello");
}

TEST(HttpServer, APipelineIsAnsweredInOrderAfterOneCommit) {
  constexpr std::size_t kRequests = 1000;
  std::vector<std::pair<std::string, std::unique_ptr<Responder>>> waiting;
  std::size_t most = 0;
  TestServer server(
      [&](HttpRequest request, std::unique_ptr<Responder> responder) {
        waiting.emplace_back(std::move(request.body), std::move(responder));
      },
      {},
      [&] {
        most = std::max(most, waiting.size());
        // The last first: the order of the answers is the server's business.
        while (!waiting.empty()) {
          waiting.back().second->respond(text(waiting.back().first));
          waiting.pop_back();
        }
      });
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < kRequests; ++i) {
    bodies.push_back("job " + std::to_string(i));
  }
  HttpClient client = server.start().client();
  std::vector<std::string> replies;
  const Result<void> sent =
      client.send_all("POST", "/v1/jobs", bodies, [&](std::size_t index, HttpReply reply) {
        EXPECT_EQ(index, replies.size());
        replies.push_back(std::move(reply.body));
      });
  ASSERT_TRUE(sent.has_value()) << sent.error().message;
  EXPECT_EQ(replies, bodies);
  server.stop();
  EXPECT_GT(most, 10U);  // as many as have arrived, which is up to the machine
}

TEST(HttpServer, AnAnswerLeavesOnlyAfterTheCommit) {
  std::atomic<int> handled = 0;
  std::atomic<int> committed = 0;
  TestServer server(
      [&](const HttpRequest&, std::unique_ptr<Responder> responder) {
        ++handled;
        responder->respond({});
      },
      {}, [&] { committed = handled.load(); });
  HttpClient client = server.start().client();
  for (int i = 1; i <= 200; ++i) {
    ASSERT_TRUE(client.send("GET", "/", "").has_value());
    EXPECT_GE(committed, i);
  }
}

TEST(HttpServer, MoreThanBuffersHoldPassesBothWays) {
  // Bodies and answers that together exceed every buffer on the way.
  TestServer server(echo);
  HttpClient client = server.start().client();
  const std::vector<std::string> bodies(3000, std::string(20000, 'x'));
  std::size_t bytes = 0;
  const Result<void> sent =
      client.send_all("POST", "/", bodies,
                      [&](std::size_t, const HttpReply& reply) { bytes += reply.body.size(); });
  ASSERT_TRUE(sent.has_value()) << sent.error().message;
  EXPECT_EQ(bytes, 3000 * (20000 + std::string("POST / ").size()));
}

TEST(HttpServer, AClientThatDoesNotReadIsNotBuffered) {
  HttpServer::Limits limits;
  limits.unsent_bytes = 100000;
  std::atomic<int> handled = 0;
  TestServer server(
      [&](const HttpRequest&, std::unique_ptr<Responder> responder) {
        ++handled;
        responder->respond(text(std::string(10000, 'x')));
      },
      limits);
  RawClient client = RawClient::to_path(server.start().path());
  constexpr int kRequests = 1000;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) {
    requests += "GET / HTTP/1.1\r\n\r\n";
  }
  client.write(requests);
  EXPECT_EQ(client.reply().status, 200);
  server.on_loop([] {});
  EXPECT_LT(handled, 200);  // what the kernel and the limit hold
  for (int i = 1; i < kRequests; ++i) {
    ASSERT_EQ(client.reply().body.size(), 10000U);
  }
  EXPECT_EQ(handled, kRequests);
}

TEST(HttpServer, ADroppedResponderAnswers500) {
  TestServer server([](const HttpRequest&, const std::unique_ptr<Responder>&) {});
  const Result<HttpReply> reply = server.start().client().send("GET", "/", "");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 500);
}

TEST(HttpServer, AHalfClosedClientStillGetsItsAnswer) {
  std::unique_ptr<Responder> kept;
  TestServer server([&](const HttpRequest&, std::unique_ptr<Responder> responder) {
    kept = std::move(responder);
  });
  RawClient client = RawClient::to_path(server.start().path());
  client.write("GET / HTTP/1.1\r\n\r\n");
  client.end_writing();
  for (bool asked = false; !asked;) {
    server.on_loop([&] { asked = kept != nullptr; });
  }
  server.on_loop([&] { kept->respond(text("late")); });
  EXPECT_EQ(client.reply().body, "late");
}

TEST(HttpServer, AnswersToClientsThatHaveGoneAreDropped) {
  std::vector<std::unique_ptr<Responder>> kept;
  std::shared_ptr<EventStream> stream;
  std::promise<void> asked;
  TestServer server([&](const HttpRequest& request, std::unique_ptr<Responder> responder) {
    if (request.path == "/stream") {
      stream = responder->stream();
      asked.set_value();
    } else {
      kept.push_back(std::move(responder));
    }
  });
  server.start();
  {
    RawClient client = RawClient::to_path(server.path());
    client.write("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n");
    RawClient reader = RawClient::to_path(server.path());
    reader.write("GET /stream HTTP/1.1\r\n\r\n");
    ASSERT_EQ(asked.get_future().wait_for(kDeadline), std::future_status::ready);
  }
  server.on_loop([&] {
    kept[2]->respond(text(std::string(1000000, 'x')));
    kept[0]->respond({});
    kept.clear();
  });
  bool alive = true;
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (alive && std::chrono::steady_clock::now() < end) {
    server.on_loop([&] { alive = stream->send(1, "job", "{}"); });
  }
  EXPECT_FALSE(alive);
}

TEST(HttpServer, IsDestroyedWithOpenConnections) {
  std::vector<std::unique_ptr<Responder>> kept;
  std::shared_ptr<EventStream> stream;
  TestServer server([&](const HttpRequest& request, std::unique_ptr<Responder> responder) {
    if (request.path == "/stream") {
      stream = responder->stream();
    } else if (request.path == "/wait") {
      kept.push_back(std::move(responder));
    } else {
      responder->respond({});
    }
  });
  server.start();
  std::deque<RawClient> clients;
  for (const char* request :
       {"", "GET / HT", "GET /wait HTTP/1.1\r\n\r\n", "GET /stream HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", "GET / HTTP/1.1\r\n\r\n"}) {
    clients.push_back(RawClient::to_path(server.path()));
    clients.back().write(request);
  }
  EXPECT_EQ(clients.back().reply().status, 200);
  server.destroy_server();
  for (RawClient& client : clients) {
    client.read_to_end();  // all are closed
  }
  EXPECT_FALSE(std::filesystem::exists(server.path()));
  server.on_loop([&] {
    for (const std::unique_ptr<Responder>& responder : kept) {
      responder->respond({});
    }
    kept.clear();
    if (stream != nullptr) {
      EXPECT_FALSE(stream->send(1, "job", "{}"));
      stream.reset();
    }
  });
}

TEST(HttpServer, AnswersTheRequestThatStopsTheLoop) {
  Loop* loop = nullptr;
  TestServer server([&](const HttpRequest&, std::unique_ptr<Responder> responder) {
    responder->respond(text("bye"));
    loop->stop();
  });
  loop = &server.loop();
  const Result<HttpReply> reply = server.start().client().send("POST", "/stop", "");
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->body, "bye");
}

// Event streams.

struct Streams {
  std::vector<std::shared_ptr<EventStream>> open;
  std::vector<std::string> resume_ids;
  HttpServer::Handler handler() {
    return [this](const HttpRequest& request, std::unique_ptr<Responder> responder) {
      if (request.path == "/v1/events") {
        resume_ids.push_back(request.last_event_id);
        open.push_back(responder->stream());
        open.back()->send(41, "hello", "first\nsecond");
      } else {
        responder->respond({});
      }
    };
  }
};

TEST(EventStreams, SendAndResume) {
  Streams streams;
  TestServer server(streams.handler());
  HttpClient client = server.start().client();
  std::vector<std::string> seen;
  const Result<void> followed = client.follow(
      "/v1/events", "40", [&](std::string_view id, std::string_view event, std::string_view data) {
        seen.push_back(std::string(id) + "|" + std::string(event) + "|" + std::string(data));
        if (seen.size() == 1) {
          server.on_loop([&] { streams.open[0]->send(42, "job", "{}"); });
        }
        return seen.size() < 2;
      });
  ASSERT_TRUE(followed.has_value()) << followed.error().message;
  EXPECT_EQ(seen, (std::vector<std::string>{"41|hello|first\nsecond", "42|job|{}"}));
  server.stop();
  EXPECT_EQ(streams.resume_ids, std::vector<std::string>{"40"});
  streams.open.clear();
}

TEST(EventStreams, EndWhenDropped) {
  Streams streams;
  TestServer server(streams.handler());
  HttpClient client = server.start().client();
  int events = 0;
  const Result<void> followed = client.follow("/v1/events", "", [&](auto, auto, auto) {
    if (++events == 1) {
      server.on_loop([&] {
        streams.open[0]->send(42, "job", "last");
        streams.open.clear();
      });
    }
    return true;
  });
  ASSERT_TRUE(followed.has_value()) << followed.error().message;
  EXPECT_EQ(events, 2);
}

TEST(EventStreams, HaveHeartbeatsAndNoTimeOut) {
  Streams streams;
  HttpServer::Limits limits;
  limits.heartbeat = std::chrono::milliseconds(20);
  limits.idle = std::chrono::milliseconds(20);
  TestServer server(streams.handler(), limits);
  RawClient client = RawClient::to_path(server.start().path());
  client.write("GET /v1/events HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n");
  ASSERT_TRUE(client.read_until("\n\n:\n\n:\n\n:\n\n"));
  EXPECT_NE(client.text.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_EQ(client.text.find("Access-Control"), std::string::npos);
  server.stop();
  streams.open.clear();
}

TEST(EventStreams, StayInLineBehindEarlierRequests) {
  std::unique_ptr<Responder> first;
  std::shared_ptr<EventStream> stream;
  TestServer server([&](const HttpRequest& request, std::unique_ptr<Responder> responder) {
    if (request.path == "/first") {
      first = std::move(responder);
    } else {
      stream = responder->stream();
      stream->send(1, "job", "behind");
    }
  });
  RawClient client = RawClient::to_path(server.start().path());
  client.write("GET /first HTTP/1.1\r\n\r\nGET /events HTTP/1.1\r\n\r\n");
  bool both = false;
  while (!both) {
    server.on_loop([&] { both = stream != nullptr; });
  }
  server.on_loop([&] { first->respond(text("first")); });
  EXPECT_EQ(client.reply().body, "first");
  EXPECT_TRUE(client.read_until("data: behind\n\n"));
  server.on_loop([&] { stream.reset(); });
  client.read_to_end();
}

TEST(EventStreams, CutOffASlowReader) {
  Streams streams;
  HttpServer::Limits limits;
  limits.unsent_bytes = 100000;
  TestServer server(streams.handler(), limits);
  RawClient slow = RawClient::to_path(server.start().path());
  slow.write("GET /v1/events HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(slow.read_until("data: second\n\n"));
  const std::string data(10000, 'x');
  bool open = true;
  for (int i = 0; i < 1000 && open; ++i) {
    server.on_loop([&] { open = streams.open[0]->send(1, "job", data); });
  }
  EXPECT_FALSE(open);
  EXPECT_TRUE(server.client().send("GET", "/", "").has_value());
  slow.read_to_end();  // it is closed
  server.stop();
  streams.open.clear();
}

TEST(EventStreams, AreOnlyAHeadForHead) {
  Streams streams;
  TestServer server(streams.handler());
  RawClient client = RawClient::to_path(server.start().path());
  client.write("HEAD /v1/events HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\n"));
  server.stop();
  streams.open.clear();
}

}  // namespace
}  // namespace berth
