// What clients ask of the daemon: which request goes where.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {

void Daemon::answer(Reply reply, HttpResponse response) {
  // Shared, because a std::function must be copyable.
  after_commit([held = std::make_shared<Reply>(std::move(reply)), response = std::move(response)] {
    (*held)->respond(response);
  });
}

/// Over TCP the token stands for the daemon's own user.
uid_t Daemon::user_of(const Peer& peer) const { return peer.local ? peer.uid : ::getuid(); }

bool Daemon::may_change(const Peer& peer, uid_t owner) const {
  const uid_t user = user_of(peer);
  return user == owner || user == 0 || user == ::getuid();
}

void Daemon::handle(HttpRequest request, Reply reply) {
  const std::string path = request.path;
  const bool get = request.method == "GET" || request.method == "HEAD";
  const bool post = request.method == "POST";
  constexpr std::string_view kJobs = "/v1/jobs/";
  constexpr std::string_view kDevices = "/v1/devices/";
  if (!get && !post) {
    answer(std::move(reply), {405,
                              "application/json",
                              error_json({ErrorCode::Usage, "only GET and POST are known here"}),
                              {{"Allow", "GET, HEAD, POST"}}});
  } else if (path == "/v1/jobs") {
    answer(std::move(reply), post ? submit(request) : list(request));
  } else if (path.starts_with(kJobs)) {
    handle_job(std::move(request), std::move(reply), std::string_view(path).substr(kJobs.size()));
  } else if (path == "/v1/wait" && get) {
    wait(request, std::move(reply));
  } else if (path == "/v1/devices" && get) {
    answer(std::move(reply), list_devices());
  } else if (path.starts_with(kDevices) && post) {
    answer(std::move(reply),
           change_devices(request, std::string_view(path).substr(kDevices.size())));
  } else if (path == "/v1/events" && get) {
    after_commit([this, held = std::make_shared<Reply>(std::move(reply)),
                  last = request.last_event_id] { events_->listen(std::move(*held), last); });
  } else if (path == "/metrics" && get) {
    answer(std::move(reply), {200, "text/plain; version=0.0.4; charset=utf-8", metrics(), {}});
  } else if (!handle_daemon(request, reply)) {
    answer(std::move(reply), not_found(path));
  }
}

/// `rest` is what follows /v1/jobs/.
void Daemon::handle_job(HttpRequest request, Reply reply, std::string_view rest) {
  if (request.method == "POST") {
    return command(std::move(request), std::move(reply), rest);
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const Result<std::int64_t> id = parse_integer(rest.substr(0, slash), "a job number");
  if (!id || *id < 1) {
    return answer(std::move(reply),
                  failed(id ? Error{ErrorCode::Usage, "job numbers start at 1"} : id.error()));
  }
  const JobId job{static_cast<std::uint64_t>(*id)};
  if (slash == rest.size()) {
    answer(std::move(reply), show(job, request.peer));
  } else if (rest.substr(slash) == "/log") {
    read_log(request, std::move(reply), job);
  } else {
    answer(std::move(reply), not_found(request.path));
  }
}

bool Daemon::handle_daemon(const HttpRequest& request, Reply& reply) {
  const std::string& path = request.path;
  if (path == "/v1/status" && request.method != "POST") {
    answer(std::move(reply), status());
    return true;
  }
  const bool pause = path == "/v1/daemon/pause";
  if (request.method != "POST" ||
      (!pause && path != "/v1/daemon/resume" && path != "/v1/daemon/stop")) {
    return false;
  }
  if (!may_change(request.peer, ::getuid())) {
    answer(std::move(reply),
           failed({ErrorCode::Refused, "only the daemon's own user may do that"}));
  } else if (path == "/v1/daemon/stop") {
    answer(std::move(reply), status());
    after_commit([this] { loop_.stop(); });
  } else {
    if (pause) {
      journal(Pause{}, now());
      scheduler_->apply(Pause{});
    } else {
      journal(Resume{}, now());
      scheduler_->apply(Resume{});
    }
    check(store_->set_setting("paused", pause ? "yes" : ""));
    events_->announce("daemon", fmt::format(R"({{"paused":{}}})", pause));
    answer(std::move(reply), status());
  }
  return true;
}

HttpResponse Daemon::status() const {
  std::string counts;
  for (std::size_t i = 0; i < kPhases; ++i) {
    counts += fmt::format(R"({}"{}":{})", counts.empty() ? "" : ",",
                          phase_name(static_cast<JobPhase>(i)), store_->counts()[i]);
  }
  const auto devices = std::count_if(device_states_.begin(), device_states_.end(),
                                     [](const DeviceState& state) { return !state.removed; });
  return json(fmt::format(
      R"({{"version":1,"pid":{},"policy":"{}","paused":{},"gpus":{},"listen":{},"home":{},"jobs":{{{}}}}})",
      ::getpid(), scheduler_->policy().name(), scheduler_->paused(), devices, quote(listening_),
      quote(paths_.state), counts));
}

}  // namespace berth
