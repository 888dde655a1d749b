#include "daemon/handlers/daemon.h"

#include <unistd.h>

#include <algorithm>

#include "gpu/locks/lock_folder.h"
#include "rl/packed_name.h"

namespace berth {
namespace {

std::string host_name() {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return host;
}

}  // namespace

void announce_daemon(Desk& desk) {
  DaemonEvent event;
  event.paused = desk.scheduler().paused();
  event.policy = policy_label(desk.driver.policy());
  event.placement = placement_name(desk.scheduler().placement());
  desk.events.announce("daemon", to_json(event));
}

HttpResponse status_answer(const Desk& desk, const DaemonFacts& facts, const Peer& viewer) {
  const std::vector<DeviceState>& devices = desk.driver.devices().states();
  StatusReply status;
  status.pid = ::getpid();
  status.policy = policy_label(desk.driver.policy());
  status.placement = placement_name(desk.scheduler().placement());
  status.policy_trouble = desk.driver.trouble();
  status.shadow = policy_label(facts.shadow.policy());
  status.shadow_report = facts.shadow.report();
  status.oom_risk = desk.driver.memory().risk();
  status.owners = desk.owners.whom() == ChargedTo::User ? "user" : "project";
  status.paused = desk.scheduler().paused();
  status.gpus = static_cast<std::uint64_t>(std::count_if(
      devices.begin(), devices.end(), [](const DeviceState& state) { return !state.removed; }));
  status.listen = facts.listening;
  status.home = facts.home;
  status.uid = viewer.uid;
  status.user = user_name(viewer.uid);
  status.version_text = BERTH_VERSION;
  status.started = seconds(facts.opened);
  status.hostname = host_name();
  if (viewer.uid == ::getuid()) {
    status.clusters = facts.clusters;  // only its own user's jobs are sent there
  }
  for (std::size_t i = 0; i < kPhases; ++i) {
    status.jobs.emplace(phase_name(static_cast<JobPhase>(i)), desk.store.jobs().counts()[i]);
  }
  status.load = load_report(desk, facts, viewer);
  return json(to_json(status));
}

HttpResponse set_paused(Desk& desk, const DaemonFacts& facts, const RoutedRequest& asked) {
  const bool paused = asked.verb == "pause";
  if (!Desk::may_steer(asked.request.peer)) {
    return not_yours();
  }
  if (paused) {
    desk.driver.scheduler().tell(Pause{}, desk.now());
  } else {
    desk.driver.scheduler().tell(Resume{}, desk.now());
  }
  desk.check(desk.store.settings().set("paused", paused ? "yes" : ""));
  announce_daemon(desk);
  return status_answer(desk, facts, asked.request.peer);
}

void listen_to_events(Desk& desk, RoutedRequest asked) {
  const uid_t user = asked.request.peer.uid;
  const EventHub::Listener listener{user, desk.privacy.sees_all(user)};
  desk.turns.after_commit([&desk, held = std::make_shared<Turns::Reply>(std::move(asked.reply)),
                           last = std::move(asked.request.last_event_id),
                           listener] { desk.events.listen(std::move(*held), last, listener); });
}

}  // namespace berth
