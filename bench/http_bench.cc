// What the transport costs: requests a second over one kept connection, one by one and pipelined,
// with a handler that does nothing, and how long a request takes while 60 pages follow the events.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "api/http_client.h"
#include "api/http_server.h"
#include "api/loop.h"
#include "api/sockets.h"
#include "base/check.h"

namespace berth {
namespace {

constexpr std::size_t kStreams = 60;

/// A server on its own thread. `/events` opens a stream; `/tell` sends an event to all of them.
class Server {
 public:
  Server() {
    std::string pattern = std::filesystem::temp_directory_path() / "berth-bench-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    BERTH_CHECK(server_.listen_unix(path(), false).has_value());
    thread_ = std::thread([this] { loop_.run([] {}); });
  }
  ~Server() {
    loop_.post([this] { loop_.stop(); });
    thread_.join();
    streams_.clear();
    std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ + "/berth.sock"; }
  HttpClient client() const { return std::move(*HttpClient::connect(path())); }

 private:
  void handle(const HttpRequest& request, Responder& responder) {
    if (request.path == "/events") {
      streams_.push_back(responder.stream());
      streams_.back()->send(++last_event_, "hello", "{}");
      return;
    }
    if (request.path == "/tell") {
      ++last_event_;
      for (const std::shared_ptr<EventStream>& stream : streams_) {
        stream->send(last_event_, "job", R"({"id":1234,"state":"running","gpus":[0,1]})");
      }
    }
    HttpResponse response;
    response.body = R"({"id":1234})";
    responder.respond(std::move(response));
  }

  std::string folder_;
  Loop loop_;
  std::vector<std::shared_ptr<EventStream>> streams_;
  std::uint64_t last_event_ = 0;
  HttpServer server_{loop_,
                     [this](const HttpRequest& request, std::unique_ptr<Responder> responder) {
                       handle(request, *responder);
                     }};
  std::thread thread_;
};

const std::string& submission() {
  static const std::string body =
      R"({"command":"python train.py --lr 0.1 --seed 1","directory":"/home/ada/exp","gpus":1})";
  return body;
}

void one_by_one(benchmark::State& state) {
  const Server server;
  HttpClient client = server.client();
  for (auto _ : state) {
    BERTH_CHECK(client.send("POST", "/v1/jobs", submission()).has_value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(one_by_one)->UseRealTime();

void pipelined(benchmark::State& state) {
  const Server server;
  HttpClient client = server.client();
  const std::vector<std::string> bodies(10000, submission());
  for (auto _ : state) {
    BERTH_CHECK(client.send_all("POST", "/v1/jobs", bodies, [](std::size_t, const HttpReply&) {})
                    .has_value());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(bodies.size()));
}
BENCHMARK(pipelined)->UseRealTime()->Unit(benchmark::kMillisecond);

/// What a command does: connect, ask once, end.
void connect_and_ask(benchmark::State& state) {
  const Server server;
  for (auto _ : state) {
    BERTH_CHECK(server.client().send("GET", "/v1/jobs", "").has_value());
  }
}
BENCHMARK(connect_and_ask)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// 60 streams that one thread reads, as so many pages would.
class Followers {
 public:
  explicit Followers(const Server& server) {
    std::promise<void> ready;
    thread_ = std::thread([this, &server, &ready] { read(server, ready); });
    ready.get_future().wait();
  }
  ~Followers() {
    stop_ = true;
    thread_.join();
  }

 private:
  void read(const Server& server, std::promise<void>& ready) {
    std::vector<Fd> sockets;
    std::vector<pollfd> polls;
    for (std::size_t i = 0; i < kStreams; ++i) {
      const Result<UnixAddress> address = unix_address(server.path());
      Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      BERTH_CHECK(::connect(socket.get(), address->get(), address->size) == 0);
      constexpr std::string_view kRequest = "GET /events HTTP/1.1\r\n\r\n";
      BERTH_CHECK(::send(socket.get(), kRequest.data(), kRequest.size(), 0) > 0);
      polls.push_back({socket.get(), POLLIN, 0});
      BERTH_CHECK(::poll(&polls.back(), 1, 10000) == 1);
      sockets.push_back(std::move(socket));
    }
    ready.set_value();
    std::array<char, 65536> buffer;
    while (!stop_) {
      ::poll(polls.data(), polls.size(), 20);
      for (const pollfd& entry : polls) {
        if (entry.revents != 0) {
          (void)::recv(entry.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
        }
      }
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// With argument 1 each request also sends an event to all of them.
void with_event_streams(benchmark::State& state) {
  const Server server;
  const Followers followers(server);
  HttpClient client = server.client();
  const std::string target = state.range(0) == 1 ? "/tell" : "/v1/jobs";
  for (auto _ : state) {
    BERTH_CHECK(client.send("POST", target, submission()).has_value());
  }
}
BENCHMARK(with_event_streams)->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth
