#include "daemon/requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/handlers/devices.h"
#include "daemon/handlers/page_files.h"
#include "daemon/numbered_responder.h"
#include "daemon/policy_setting.h"

namespace berth {

Requests::Requests(const Parts& parts)
    : parts_(parts),
      server_(parts.loop,
              [this](HttpRequest request, Turns::Reply reply) {
                handle(std::move(request), std::move(reply));
              }),
      web_(parts.desk, server_, parts.state.paths().state),
      books_(parts.state.paths().state, parts.devices.list()),
      pauses_(parts.desk.driver, parts.desk.events),
      logs_(parts.files.users),
      whatif_(parts.loop),
      shadow_(parts.loop),
      commands_(parts.desk, parts.runner, pauses_),
      submit_(parts.desk, parts.loop, worker_),
      texts_(parts.desk, submit_),
      facets_(parts.desk),
      totals_(parts.desk),
      routes_(all_routes()) {
  server_.on_refusal([&log = parts.desk.log](uid_t who, std::string_view what) {
    log.write("{} was refused: {}",
              who == Budgets::kStrangers ? "somebody over TCP" : fmt::format("user {}", who), what);
  });
}

Result<void> Requests::open() {
  const Result<std::string> shadow = read_shadow(parts_.desk.store, parts_.desk.options);
  if (!shadow) {
    return Failure(shadow.error());
  }
  shadow_.follow(*shadow, parts_.opened);
  if (Result<void> listening = web_.open(); !listening) {
    return listening;
  }
  return listen_on_socket();
}

Result<void> Requests::listen_on_socket() {
  return server_.listen_unix(parts_.state.paths().socket(), parts_.desk.options.everyone);
}

HostListeners Requests::listeners() {
  HostListeners listeners;
  listeners.attempt_began = [this](JobId job, Time at) { parts_.reports.job_started(job, at); };
  listeners.reading = [this](const Telemetry::Reading& reading, Time at) {
    books_.note(reading, at, parts_.desk.driver, parts_.devices);
    if (parts_.desk.events.has_listeners()) {
      parts_.desk.events.tell_listeners("devices",
                                        to_json(devices_reply(parts_.desk, parts_.devices)));
    }
  };
  listeners.used_before = [this](JobId job, std::uint16_t attempt) {
    return books_.usage().find({job, attempt});
  };
  listeners.attempt_over = [this](JobId job, std::uint16_t attempt) {
    books_.usage().end({job, attempt});
  };
  listeners.output_changed = [this](JobId job, bool over) {
    logs_.job_changed(job, over, parts_.desk.now());
  };
  listeners.pause_settled = [this](JobId job) { pauses_.settled(job); };
  listeners.job_ended = [this](JobId job, bool failed) { waiters_.job_ended(job, failed); };
  return listeners;
}

void Requests::drop_half_submissions() {
  for (const StagedJobs& staged : Staging(parts_.desk.store.staged().all())) {
    parts_.loop.post([this, first = staged.first] { submit_.drop_staged(first); });
  }
}

void Requests::begin_turn(Time at) {
  whatif_.check(at);
  shadow_.check(parts_.desk.driver.policy(), at);
  worker_.check();
  pauses_.expire(at);
}

void Requests::end_turn() {
  settle_waiters();
  parts_.desk.events.flush();
  logs_.expire(parts_.desk.now());
}

Time Requests::due() const {
  return std::min({logs_.next_deadline(), whatif_.deadline(), shadow_.due(), pauses_.due()});
}

void Requests::settle_waiters() {
  constexpr Duration kAtMost = std::chrono::milliseconds(5);
  if (waiters_.size() == 0) {
    return;
  }
  const Scheduler& scheduler = parts_.desk.scheduler();
  waiters_.settle(scheduler.waiting() == 0 && scheduler.running().empty(), kAtMost);
  if (waiters_.behind()) {
    parts_.loop.post([] {});
  }
}

DaemonFacts Requests::facts() const {
  return {parts_.state.paths().state,
          parts_.opened,
          web_.listening(),
          server_.budgets(),
          parts_.desk.turns.watchdog(),
          shadow_,
          parts_.targets == nullptr ? std::vector<std::string>() : parts_.targets->clusters()};
}

void Requests::handle(HttpRequest request, Turns::Reply reply) {
  if (serve_page(request, reply)) {
    return;
  }
  Desk& desk = parts_.desk;
  RouteTable::Found found = routes_.find(request);
  if (found.route == nullptr) {
    return desk.answer(std::move(reply), std::move(*found.refusal));
  }
  const RouteTable::Route& route = *found.route;
  if (route.method != "GET" && !desk.turns.can_promise()) {
    return reply->respond(failed({ErrorCode::Unavailable, desk.turns.problem()}));
  }
  if (route.method == "GET") {
    reply = std::make_unique<NumberedResponder>(std::move(reply), desk.events.newest());
  }
  const Watchdog::Mark mark = desk.turns.watchdog().mark(route.name);
  route.handler({std::move(request), std::move(reply), found.job,
                 route.path.substr(route.path.rfind('/') + 1), route.name});
}

}  // namespace berth
