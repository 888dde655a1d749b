// RouteTable: which request goes to which handler. GET /v1 lists the table. docs/openapi.yaml
// describes the same routes, and tests/e2e/openapi_test.py compares the two.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_server.h"
#include "api/messages/status.h"
#include "base/ids.h"

namespace berth {

/// A request that has found its route.
struct RoutedRequest {
  HttpRequest request;
  std::unique_ptr<Responder> reply;
  JobId job;               // the job whose number is in the path, if the route has one
  std::string_view verb;   // the last word of the route: "kill"
  std::string_view route;  // its name: "POST /v1/jobs/kill"
};

class RouteTable {
 public:
  /// Answers now or later.
  using Handler = std::function<void(RoutedRequest)>;

  struct Route {
    std::string_view method;
    std::string_view path;  // `{id}` in it stands for a job's number
    Handler handler;
    std::string name = {};  // "GET /v1/status"
  };
  explicit RouteTable(std::vector<Route> routes);

  /// The route of a request, or the answer to a request without a route.
  struct Found {
    const Route* route = nullptr;
    JobId job;
    std::optional<HttpResponse> refusal;
  };
  Found find(const HttpRequest& request) const;

  /// Every route, as GET /v1 lists them.
  IndexReply index() const;

 private:
  std::vector<Route> routes_;
};

}  // namespace berth
