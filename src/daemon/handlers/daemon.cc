#include "daemon/handlers/daemon.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

/// What the page shows of the daemon and of who asks; fields of the status.
std::string status_for(const Peer& viewer, Time opened) {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return fmt::format(R"("uid":{},"user":{},"version_text":"{}","started":{:.3f},"hostname":{})",
                     viewer.uid, quote(user_name(viewer.uid)), BERTH_VERSION, seconds(opened),
                     quote(host));
}

}  // namespace

void announce_daemon(Desk& desk) {
  desk.events.announce("daemon", fmt::format(R"({{"paused":{},"policy":{},"placement":"{}"}})",
                                             desk.scheduler().paused(), quote(desk.driver.policy()),
                                             placement_name(desk.scheduler().placement())));
}

HttpResponse status_answer(const Desk& desk, const DaemonFacts& facts, const Peer& viewer) {
  std::string counts;
  for (std::size_t i = 0; i < kPhases; ++i) {
    counts += fmt::format(R"({}"{}":{})", counts.empty() ? "" : ",",
                          phase_name(static_cast<JobPhase>(i)), desk.store.counts()[i]);
  }
  const auto devices =
      std::count_if(desk.driver.devices().states().begin(), desk.driver.devices().states().end(),
                    [](const DeviceState& state) { return !state.removed; });
  return json(fmt::format(
      R"({{"version":1,"pid":{},"policy":{},"placement":"{}","owners":"{}","paused":{},"gpus":{},"listen":{},"home":{},{},"jobs":{{{}}},"load":{}}})",
      ::getpid(), quote(desk.driver.policy()), placement_name(desk.scheduler().placement()),
      desk.owners.whom() == ChargedTo::User ? "user" : "project", desk.scheduler().paused(),
      devices, quote(facts.listening), quote(facts.home), status_for(viewer, facts.opened), counts,
      load_json(desk, facts, viewer)));
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
  desk.check(desk.store.set_setting("paused", paused ? "yes" : ""));
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
