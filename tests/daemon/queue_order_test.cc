// The order of a queue, and that its first jobs are found without a look at all others.
#include <gtest/gtest.h>

#include "api/messages/ids.h"
#include "daemon/parts.h"

namespace berth {
namespace {

class QueueOrders : public PartsTest {
 protected:
  using Query = std::vector<std::pair<std::string, std::string>>;
  QueueOrders() {
    EXPECT_TRUE(parts_.restore());
    parts_.driver->scheduler().tell(Pause{}, parts_.clock.now());  // nothing starts
  }
  void submit(const std::string& fields) {
    const HttpResponse response = parts_.submit(fields);
    EXPECT_EQ(response.status, 200) << response.body;
  }
  IdsReply ids(Query query) {
    query.emplace_back("sort", "queue");
    const HttpResponse response = parts_.ask("GET", "/v1/jobs/ids", "", std::move(query));
    EXPECT_EQ(response.status, 200) << response.body;
    Result<IdsReply> reply = parse_ids_reply(response.body);
    return reply ? std::move(*reply) : IdsReply{};
  }

  DaemonParts parts_{folder_};
};

TEST_F(QueueOrders, TheFirstAreThoseOfTheWholeOrder) {
  submit(R"("command":"a","array":10,"priority":5)");           // 1-10
  submit(R"("command":"b","array":10,"gpus":2)");               // 11-20
  submit(R"("command":"c","held":true,"array":5)");             // 21-25
  submit(R"("command":"d","after":["any:21"],"priority":-9)");  // 26
  submit(R"("command":"e","priority":-5)");                     // 27
  for (const char* job : {"3", "12", "24"}) {
    parts_.ask("POST", "/v1/jobs/kill", "", {{"select", job}});
    parts_.turn();
  }
  parts_.driver->scheduler().tell(Resume{}, parts_.clock.now());
  parts_.turn();
  parts_.turn();
  parts_.starts(27);
  for (const Query& choice :
       {Query{}, Query{{"all", "1"}}, Query{{"select", "state=queued"}},
        Query{{"select", "state=live"}}, Query{{"select", "state=ended"}, {"all", "1"}},
        Query{{"select", "state=cancelled"}}, Query{{"select", "1-26"}, {"all", "1"}}}) {
    const IdsReply whole = ids(choice);
    const std::vector<JobId> order = whole.first(0);
    EXPECT_GT(order.size(), 2U);
    for (const std::size_t limit : {1, 5, 20, 1000}) {
      Query limited = choice;
      limited.emplace_back("limit", std::to_string(limit));
      const IdsReply first = ids(limited);
      EXPECT_EQ(first.first(0), whole.first(limit)) << limit;
      EXPECT_EQ(first.count, order.size());
      EXPECT_EQ(first.states, whole.states);
    }
  }
  EXPECT_EQ(ids({{"limit", "1"}}).first(0), std::vector{JobId{27}});
  EXPECT_EQ(ids({{"all", "1"}}).first(0).back(), JobId{3}) << "it ended first";
  EXPECT_EQ(parts_.ask("GET", "/v1/jobs/ids", "", {{"limit", "-1"}}).status, 400);
}

TEST_F(QueueOrders, ALongQueueIsNotWalkedThrough) {
  for (int i = 0; i < 10; ++i) {
    submit(R"("command":"a","array":10000)");
  }
  const auto received = std::make_shared<Received>();
  HttpRequest request;
  request.method = "GET";
  request.path = "/v1/jobs/ids";
  request.query = {{"sort", "queue"}, {"limit", "100"}};
  request.peer.uid = ::getuid();
  parts_.requests->handle(std::move(request), std::make_unique<RecordingResponder>(received));
  parts_.turn();
  ASSERT_TRUE(received->response) << "it took more than one turn";
  EXPECT_EQ(parse_ids_reply(received->response->body)->count, 100'000U);
}

}  // namespace
}  // namespace berth
