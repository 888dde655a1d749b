// What every answer needs, and what clients ask of the daemon itself.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {

void Daemon::answer(Reply reply, HttpResponse response) {
  if (store_->out_of_reach()) {
    return reply->respond(std::move(response));  // only reads come this far; see handle()
  }
  // Shared, because a std::function must be copyable.
  after_commit(
      [held = std::make_shared<Reply>(std::move(reply)), response = std::move(response)]() mutable {
        (*held)->respond(std::move(response));
      });
}

uid_t Daemon::user_of(const Peer& peer) const { return peer.uid; }

bool Daemon::may_change(const Peer& peer, uid_t owner) const {
  const uid_t user = user_of(peer);
  return user == owner || user == 0 || user == ::getuid();
}

/// For the log: what it says must not grow with what a client may choose freely.
void Daemon::note_refusal(const Peer& peer, std::string_view what) {
  log_.write("user {} was refused {}", user_of(peer), what);
}

HttpResponse Daemon::pause(const HttpRequest& request) { return set_paused(request, true); }
HttpResponse Daemon::resume(const HttpRequest& request) { return set_paused(request, false); }

HttpResponse Daemon::set_paused(const HttpRequest& request, bool paused) {
  if (!may_change(request.peer, ::getuid())) {
    return not_yours();
  }
  if (paused) {
    driver_->scheduler().tell(Pause{}, now());
  } else {
    driver_->scheduler().tell(Resume{}, now());
  }
  check(store_->set_setting("paused", paused ? "yes" : ""));
  announce_daemon();
  return status(request);
}

HttpResponse Daemon::stop_daemon(const HttpRequest& request) {
  if (!may_change(request.peer, ::getuid())) {
    return not_yours();
  }
  after_commit([this] { loop_.stop(); });
  return status(request);
}

void Daemon::listen(Asked asked) {
  const uid_t user = user_of(asked.request.peer);
  const EventHub::Listener listener{user, privacy_.sees_all(user)};
  after_commit([this, held = std::make_shared<Reply>(std::move(asked.reply)),
                last = std::move(asked.request.last_event_id),
                listener] { events_->listen(std::move(*held), last, listener); });
}

HttpResponse Daemon::status(const HttpRequest& request) {
  std::string counts;
  for (std::size_t i = 0; i < kPhases; ++i) {
    counts += fmt::format(R"({}"{}":{})", counts.empty() ? "" : ",",
                          phase_name(static_cast<JobPhase>(i)), store_->counts()[i]);
  }
  const auto devices =
      std::count_if(driver_->devices().states().begin(), driver_->devices().states().end(),
                    [](const DeviceState& state) { return !state.removed; });
  return json(fmt::format(
      R"({{"version":1,"pid":{},"policy":{},"placement":"{}","owners":"{}","paused":{},"gpus":{},"listen":{},"home":{},{},"jobs":{{{}}},"load":{}}})",
      ::getpid(), quote(policy_), placement_name(scheduler().placement()),
      owners_.whom() == ChargedTo::User ? "user" : "project", scheduler().paused(), devices,
      quote(listening_), quote(paths_.state), status_for(request.peer), counts,
      load_for(request.peer)));
}

}  // namespace berth
