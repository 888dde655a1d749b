#include "daemon/routes.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

RouteTable table() {
  const auto nothing = [](RoutedRequest) {};
  return RouteTable({{"GET", "/v1/jobs", nothing},
                     {"POST", "/v1/jobs", nothing},
                     {"GET", "/v1/jobs/ids", nothing},
                     {"POST", "/v1/jobs/kill", nothing},
                     {"GET", "/v1/jobs/{id}", nothing},
                     {"GET", "/v1/jobs/{id}/log", nothing}});
}

struct Row {
  std::string method;
  std::string path;
  std::string route;  // its name; empty: none
  std::uint64_t job = 0;
  int status = 0;  // of the refusal
  std::string allowed = {};
};

class Routes : public ::testing::TestWithParam<Row> {};

TEST_P(Routes, AreFound) {
  const Row& row = GetParam();
  const RouteTable routes = table();
  HttpRequest request;
  request.method = row.method;
  request.path = row.path;
  const RouteTable::Found found = routes.find(request);
  EXPECT_EQ(found.route == nullptr ? "" : found.route->name, row.route);
  EXPECT_EQ(found.job.value, row.job);
  ASSERT_EQ(found.refusal.has_value(), row.status != 0);
  if (found.refusal) {
    EXPECT_EQ(found.refusal->status, row.status) << found.refusal->body;
    const auto& headers = found.refusal->headers;
    EXPECT_EQ(headers.empty() ? "" : headers.front().second, row.allowed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Routes,
    ::testing::Values(
        Row{"GET", "/v1/jobs", "GET /v1/jobs"}, Row{"HEAD", "/v1/jobs", "GET /v1/jobs"},
        Row{"POST", "/v1/jobs", "POST /v1/jobs"},
        Row{"PUT", "/v1/jobs", "", 0, 405, "GET, HEAD, POST"},
        Row{"GET", "/v1/jobs/12", "GET /v1/jobs/{id}", 12},
        Row{"GET", "/v1/jobs/12/log", "GET /v1/jobs/{id}/log", 12},
        // A word that is a command is no job's number.
        Row{"GET", "/v1/jobs/ids", "GET /v1/jobs/ids"},
        Row{"GET", "/v1/jobs/kill", "", 0, 405, "POST"}, Row{"GET", "/v1/jobs/0", "", 0, 400},
        Row{"GET", "/v1/jobs/twelve", "", 0, 400}, Row{"GET", "/v1/jobs/12/end", "", 0, 404},
        Row{"GET", "/v2", "", 0, 404}, Row{"GET", "/v1/jobs/", "", 0, 400}));

TEST(RouteTable, TellsItsRoutes) {
  const auto nothing = [](RoutedRequest) {};
  const RouteTable routes({{"GET", "/v1", nothing}, {"POST", "/v1/jobs/{id}", nothing}});
  EXPECT_EQ(to_json(routes.index()), R"({"version":1,"routes":[{"method":"GET","path":"/v1"},)"
                                     R"({"method":"POST","path":"/v1/jobs/{id}"}]})");
}

}  // namespace
}  // namespace berth
