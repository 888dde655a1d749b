// Requests, each by its handler, without a server and without processes.
#include <gtest/gtest.h>

#include "daemon/parts.h"

namespace berth {
namespace {

class Handlers : public PartsTest {
 protected:
  Handlers() {
    EXPECT_TRUE(parts_.restore());
    parts_.driver->scheduler().tell(Pause{}, parts_.clock.now());  // nothing starts
  }
  std::string get(const std::string& path,
                  std::vector<std::pair<std::string, std::string>> query = {}) {
    const HttpResponse response = parts_.ask("GET", path, "", std::move(query));
    EXPECT_EQ(response.status, 200) << path << ": " << response.body;
    return response.body;
  }
  HttpResponse post(const std::string& path, std::vector<std::pair<std::string, std::string>> query,
                    std::string body = "") {
    return parts_.ask("POST", path, std::move(body), std::move(query));
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  DaemonParts parts_{folder_};
};

TEST_F(Handlers, SubmitListAndShow) {
  EXPECT_EQ(parts_.submit(R"("command":"a","name":"first","project":"p")").status, 200);
  EXPECT_EQ(parts_.submit(R"("command":"b","labels":{"k":"v"})").status, 200);
  EXPECT_EQ(parts_.submit(R"("command":"","name":"no command")").status, 400);
  const std::string list = get("/v1/jobs");
  EXPECT_TRUE(has(list, R"("name":"first")")) << list;
  EXPECT_TRUE(has(get("/v1/jobs/1"), R"("state":"queued")"));
  EXPECT_EQ(parts_.ask("GET", "/v1/jobs/3").status, 404);
  EXPECT_TRUE(has(get("/v1/jobs/ids"), R"("count":2)"));
  EXPECT_TRUE(has(get("/v1/jobs/ids", {{"search", "first"}}), R"("count":1)"));
  const std::string facets = get("/v1/facets");
  EXPECT_TRUE(has(facets, R"("projects":[{"name":"p","jobs":1}])")) << facets;
  EXPECT_TRUE(has(facets, R"("labels":[{"key":"k","value":"v","jobs":1}])")) << facets;
}

TEST_F(Handlers, HoldReleaseEditAndKill) {
  parts_.submit(R"("command":"a")");
  EXPECT_EQ(post("/v1/jobs/hold", {{"select", "1"}}).status, 200);
  EXPECT_EQ(parts_.phase(1), JobPhase::Held);
  EXPECT_EQ(post("/v1/jobs/release", {{"select", "1"}}).status, 200);
  EXPECT_EQ(post("/v1/jobs/edit", {{"select", "1"}}, R"({"priority":7})").status, 200);
  EXPECT_EQ(parts_.state.store().jobs().record(JobId{1})->description.spec.priority, 7);
  EXPECT_EQ(post("/v1/jobs/pause", {{"select", "1"}}).status, 409) << "it does not run";
  EXPECT_EQ(post("/v1/jobs/kill", {}).status, 400) << "say which";
  EXPECT_EQ(post("/v1/jobs/kill", {{"select", "1"}}).status, 200);
  parts_.turn();
  EXPECT_EQ(parts_.phase(1), JobPhase::Cancelled);
  EXPECT_EQ(post("/v1/jobs/rerun", {{"select", "1"}}).status, 200);
  EXPECT_EQ(parts_.phase(1), JobPhase::Queued);
}

TEST_F(Handlers, WaitAnswersWhenTheJobsHaveEnded) {
  parts_.submit(R"("command":"a")");
  const auto received = std::make_shared<Received>();
  HttpRequest request;
  request.method = "GET";
  request.path = "/v1/wait";
  request.query = {{"select", "1"}};
  request.peer.uid = ::getuid();
  parts_.requests->handle(std::move(request), std::make_unique<RecordingResponder>(received));
  for (int i = 0; i < 5; ++i) {
    parts_.turn();
  }
  EXPECT_FALSE(received->response);
  post("/v1/jobs/kill", {{"select", "1"}});
  for (int i = 0; i < 5; ++i) {
    parts_.turn();
  }
  ASSERT_TRUE(received->response);
  EXPECT_EQ(received->response->status, 200);
}

TEST_F(Handlers, ForgottenJobsAreGone) {
  parts_.submit(R"("command":"a")");
  post("/v1/jobs/kill", {{"select", "1"}});
  parts_.turn();
  EXPECT_TRUE(has(post("/v1/jobs/forget", {}).body, R"("forgotten":1)"));
  EXPECT_EQ(parts_.ask("GET", "/v1/jobs/1").status, 404);
}

TEST_F(Handlers, DevicesAreDrainedAndComeBack) {
  EXPECT_EQ(post("/v1/devices/drain", {{"names", "1"}}).status, 200);
  EXPECT_TRUE(has(get("/v1/devices"), R"("health":"drained")"));
  EXPECT_EQ(post("/v1/devices/drain", {{"names", "7"}}).status, 404);
  EXPECT_EQ(parts_.state.store().settings().get("drained")->value_or(""), "1");
  EXPECT_EQ(post("/v1/devices/undrain", {{"names", "1"}}).status, 200);
  EXPECT_EQ(parts_.state.store().settings().get("drained")->value_or("-"), "");
}

TEST_F(Handlers, ThePolicyIsKept) {
  EXPECT_EQ(post("/v1/daemon/policy", {{"policy", "nonsense"}}).status, 400);
  EXPECT_EQ(post("/v1/daemon/policy", {{"policy", "sjf"}}).status, 200);
  EXPECT_EQ(parts_.state.store().settings().get("policy")->value_or(""), "sjf");
  EXPECT_TRUE(has(get("/v1/status"), R"("policy":"sjf")"));
}

TEST_F(Handlers, OnlyItsOwnUserSteersTheDaemon) {
  parts_.peer = 4242;
  for (const char* path : {"/v1/daemon/pause", "/v1/daemon/policy", "/v1/daemon/stop",
                           "/v1/devices/drain", "/v1/jobs/forget"}) {
    EXPECT_EQ(post(path, {{"policy", "sjf"}, {"names", "1"}}).status, 409) << path;
  }
  EXPECT_EQ(parts_.ask("GET", "/v1/status").status, 200);
}

TEST_F(Handlers, MetricsTotalsAndTimelineAnswer) {
  parts_.submit(R"("command":"a")");
  EXPECT_TRUE(has(get("/metrics"), "berth_jobs{state=\"queued\"} 1\n"));
  EXPECT_TRUE(has(get("/v1/totals"), R"("started":0)"));
  EXPECT_TRUE(has(get("/v1/timeline"), R"("truncated":false)"));
  EXPECT_TRUE(has(get("/v1/devices/history"), R"("devices":[{"name":"0")"));
  EXPECT_EQ(parts_.ask("GET", "/v1/totals", "", {{"since", "yesterday"}}).status, 400);
}

}  // namespace
}  // namespace berth
