// The table of routes: every request that the daemon answers.
#include "daemon/handlers/devices.h"
#include "daemon/handlers/jobs.h"
#include "daemon/requests.h"

namespace berth {

RouteTable::Handler Requests::at_once(Answer answer) {
  return [this, answer = std::move(answer)](RoutedRequest asked) {
    HttpResponse response = answer(asked);
    if (response.status == 409 && !Desk::may_steer(asked.request.peer)) {
      parts_.desk.note_refusal(asked.request.peer, asked.route);
    }
    parts_.desk.answer(std::move(asked.reply), std::move(response));
  };
}

std::vector<RouteTable::Route> Requests::all_routes() {
  using Asked = RoutedRequest;
  Desk& desk = parts_.desk;
  JobReports& reports = parts_.reports;
  DaemonDevices& devices = parts_.devices;
  const auto command = [this](Asked asked) { commands_.handle(std::move(asked)); };
  const auto text = [this](Asked asked) { texts_.handle(std::move(asked)); };
  const auto device_change = [&desk, &devices](Asked asked) {
    change_devices(desk, devices, std::move(asked));
  };
  const auto pause =
      at_once([this, &desk](const Asked& asked) { return set_paused(desk, facts(), asked); });
  return {
      {"GET", "/v1", at_once([this](const Asked&) { return json(to_json(routes_.index())); })},
      {"GET", "/v1/status", at_once([this, &desk](const Asked& asked) {
         return status_answer(desk, facts(), asked.request.peer);
       })},
      {"POST", "/v1/daemon/pause", pause},
      {"POST", "/v1/daemon/resume", pause},
      {"POST", "/v1/daemon/stop", at_once([this](const Asked& asked) { return stop(asked); })},
      {"POST", "/v1/daemon/policy",
       at_once([this, &desk](const Asked& asked) { return set_policy(desk, facts(), asked); })},
      {"POST", "/v1/daemon/shadow",
       [this, &desk](Asked asked) { ask_shadow(desk, shadow_, facts(), std::move(asked)); }},
      {"GET", "/v1/policies", at_once([](const Asked&) { return list_policies(); })},
      {"POST", "/v1/advice",
       [this, &desk](Asked asked) { ask_advice(desk, whatif_, std::move(asked)); }},
      {"POST", "/v1/whatif",
       [this, &desk](Asked asked) { ask_whatif(desk, whatif_, std::move(asked)); }},
      {"GET", "/v1/jobs",
       [&desk, &reports](Asked asked) { list_jobs(desk, reports, std::move(asked)); }},
      {"POST", "/v1/jobs", [this](Asked asked) { submit_.handle(std::move(asked)); }},
      {"GET", "/v1/jobs/ids",
       [&desk, &reports](Asked asked) { list_job_ids(desk, reports, std::move(asked)); }},
      {"GET", "/v1/jobs/{id}",
       [&desk, &reports](Asked asked) { show_job(desk, reports, std::move(asked)); }},
      {"GET", "/v1/jobs/{id}/log",
       [this, &desk](Asked asked) { read_job_log(desk, logs_, std::move(asked)); }},
      {"GET", "/v1/jobs/{id}/usage",
       [this, &desk](Asked asked) { show_usage(desk, books_.usage(), std::move(asked)); }},
      {"POST", "/v1/texts/check", text},
      {"POST", "/v1/texts/submit", text},
      {"POST", "/v1/jobs/kill", command},
      {"POST", "/v1/jobs/signal", command},
      {"POST", "/v1/jobs/hold", command},
      {"POST", "/v1/jobs/release", command},
      {"POST", "/v1/jobs/pause", command},
      {"POST", "/v1/jobs/resume", command},
      {"POST", "/v1/jobs/rerun", command},
      {"POST", "/v1/jobs/edit", command},
      {"POST", "/v1/jobs/forget",
       [this, &desk](Asked asked) {
         forget_jobs(desk, parts_.files.logs, books_.usage(), std::move(asked));
       }},
      {"GET", "/v1/wait",
       [this, &desk](Asked asked) { wait_for_jobs(desk, waiters_, std::move(asked)); }},
      {"GET", "/v1/facets", [this](Asked asked) { facets_.handle(std::move(asked)); }},
      {"GET", "/v1/totals", [this](Asked asked) { totals_.handle(std::move(asked)); }},
      {"GET", "/v1/timeline",
       [&desk, &reports, &devices](Asked asked) {
         show_timeline(desk, reports, devices, std::move(asked));
       }},
      {"GET", "/v1/devices",
       [&desk, &devices](Asked asked) { list_devices(desk, devices, std::move(asked)); }},
      {"GET", "/v1/devices/history",
       [this, &desk, &devices](Asked asked) {
         show_device_history(desk, devices, books_.devices(), std::move(asked));
       }},
      {"GET", "/v1/devices/cluster",
       [this, &desk](Asked asked) {
         show_cluster_devices(desk, parts_.targets, std::move(asked));
       }},
      {"POST", "/v1/devices/add", device_change},
      {"POST", "/v1/devices/remove", device_change},
      {"POST", "/v1/devices/drain", device_change},
      {"POST", "/v1/devices/undrain", device_change},
      {"GET", "/v1/events", [&desk](Asked asked) { listen_to_events(desk, std::move(asked)); }},
      {"POST", "/v1/login",
       at_once([this](const Asked& asked) { return web_.log_in(asked.request); })},
      {"POST", "/v1/session",
       at_once([this](const Asked& asked) { return web_.begin_session(asked.request); })},
      {"POST", "/v1/session/end",
       at_once([this](const Asked& asked) { return web_.end_session(asked.request); })},
      {"GET", "/metrics",
       at_once([this, &desk](const Asked&) { return show_metrics(desk, facts()); })},
  };
}

HttpResponse Requests::stop(const RoutedRequest& asked) {
  if (!Desk::may_steer(asked.request.peer)) {
    return not_yours();
  }
  parts_.desk.turns.after_commit([this] { parts_.loop.stop(); });
  return status_answer(parts_.desk, facts(), asked.request.peer);
}

}  // namespace berth
