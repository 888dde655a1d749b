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
  PoliciesReply reply;
  for (const std::string_view name : policy_names()) {
    reply.policies.push_back({std::string(name), std::string(policy_about(name)),
                              std::find(live.begin(), live.end(), name) != live.end()});
  }
  for (const std::string_view name : placement_names()) {
    reply.placements.emplace_back(name);
  }
  return json(to_json(reply));
}

}  // namespace berth
