// Which policy decides, and to whom jobs are charged.
#include <fmt/format.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/replies.h"
#include "policy/policies.h"

namespace berth {

/// What the start says; else what the daemon before was told; else the usual.
Result<void> Daemon::choose_policy(const DaemonOptions& options, Placement& placement) {
  const Result<std::optional<std::string>> policy = store_->setting("policy");
  const Result<std::optional<std::string>> placed = store_->setting("placement");
  if (!policy || !placed) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  policy_ = !options.policy.empty() ? options.policy : policy->value_or("priority");
  const Result<Placement> before = parse_placement(placed->value_or("pack"));
  placement = options.placement.value_or(before ? *before : Placement::Pack);
  return {};
}

void Daemon::keep_policy(Placement placement) {
  check(store_->set_setting("policy", policy_));
  check(store_->set_setting("placement", std::string(placement_name(placement))));
}

HttpResponse Daemon::set_policy(const HttpRequest& request) {
  if (!may_change(request.peer, ::getuid())) {
    return not_yours();
  }
  const auto name = request.parameter("policy");
  const auto placed = request.parameter("placement");
  if (!name && !placed) {
    return failed({ErrorCode::Usage, "say which policy or placement (GET /v1/policies has both)"});
  }
  const std::string wanted(name.value_or(policy_));
  const Result<Placement> placement =
      placed ? parse_placement(*placed) : Result<Placement>(scheduler().placement());
  const Result<void> set =
      placement ? driver_->set_policy(wanted, *placement, now()) : Failure(placement.error());
  if (!set) {
    return failed(set.error());
  }
  policy_ = wanted;
  keep_policy(*placement);
  announce_daemon();
  return status(request);
}

/// Event `daemon`: how it decides has changed.
void Daemon::announce_daemon() {
  events_->announce(
      "daemon", fmt::format(R"({{"paused":{},"policy":{},"placement":"{}"}})", scheduler().paused(),
                            quote(policy_), placement_name(scheduler().placement())));
}

HttpResponse Daemon::list_policies(const HttpRequest&) {
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
