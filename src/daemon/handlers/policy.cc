#include <fmt/format.h>

#include <algorithm>

#include "daemon/handlers/daemon.h"
#include "daemon/policy_setting.h"
#include "policy/policies.h"

namespace berth {

HttpResponse set_policy(Desk& desk, const DaemonFacts& facts, const RoutedRequest& asked) {
  const HttpRequest& request = asked.request;
  if (!Desk::may_steer(request.peer)) {
    return not_yours();
  }
  const auto name = request.parameter("policy");
  const auto placed = request.parameter("placement");
  if (!name && !placed) {
    return failed({ErrorCode::Usage, "say which policy or placement (GET /v1/policies has both)"});
  }
  const std::string wanted(name.value_or(desk.driver.policy()));
  const Result<Placement> placement =
      placed ? parse_placement(*placed) : Result<Placement>(desk.scheduler().placement());
  const Result<void> set = placement ? desk.driver.set_policy(wanted, *placement, desk.now())
                                     : Failure(placement.error());
  if (!set) {
    return failed(set.error());
  }
  desk.check(keep_policy(desk.store, desk.driver));
  announce_daemon(desk);
  return status_answer(desk, facts, request.peer);
}

HttpResponse list_policies() {
  const std::vector<std::string_view> live = live_policy_names();
  std::vector<std::string> policies;
  for (const std::string_view name : policy_names()) {
    policies.push_back(fmt::format(R"({{"name":"{}","about":{},"live":{}}})", name,
                                   quote(policy_about(name)),
                                   std::find(live.begin(), live.end(), name) != live.end()));
  }
  return json(fmt::format(R"({{"version":1,"policies":[{}],"placements":["{}"]}})",
                          fmt::join(policies, ","), fmt::join(placement_names(), R"(",")")));
}

}  // namespace berth
