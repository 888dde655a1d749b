// Which request goes where: one table, which is also what GET /v1 tells. docs/openapi.yaml
// describes the same, and tests/e2e/openapi_test.py holds the two against each other.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <variant>

#include "base/units.h"
#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {
namespace {

/// What stands for `{id}` in `path`, when that is what the route says otherwise.
std::optional<std::string_view> match(std::string_view route, std::string_view path) {
  constexpr std::string_view kId = "{id}";
  const std::size_t hole = route.find(kId);
  if (hole == route.npos || !path.starts_with(route.substr(0, hole))) {
    return std::nullopt;
  }
  path.remove_prefix(hole);
  const std::size_t end = std::min(path.find('/'), path.size());
  if (path.substr(end) != route.substr(hole + kId.size())) {
    return std::nullopt;
  }
  return path.substr(0, end);
}

}  // namespace

/// Answered in this turn, or whenever its handler likes. `{id}` in a path is a job's number.
struct Daemon::Route {
  using Now = HttpResponse (Daemon::*)(const HttpRequest&);
  using Later = void (Daemon::*)(Asked);

  std::string_view method;
  std::string_view path;
  std::variant<Now, Later> handler;
  std::string name = {};  // "GET /v1/status"
};

const std::vector<Daemon::Route>& Daemon::routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> named = all_routes();
    for (Route& route : named) {
      route.name = fmt::format("{} {}", route.method, route.path);
    }
    return named;
  }();
  return kRoutes;
}

std::vector<Daemon::Route> Daemon::all_routes() {
  return {
      {"GET", "/v1", &Daemon::index},
      {"GET", "/v1/status", &Daemon::status},
      {"POST", "/v1/daemon/pause", &Daemon::pause},
      {"POST", "/v1/daemon/resume", &Daemon::resume},
      {"POST", "/v1/daemon/stop", &Daemon::stop_daemon},
      {"POST", "/v1/daemon/policy", &Daemon::set_policy},
      {"GET", "/v1/policies", &Daemon::list_policies},
      {"POST", "/v1/whatif", &Daemon::ask_whatif},
      {"GET", "/v1/jobs", &Daemon::list},
      {"POST", "/v1/jobs", &Daemon::submit},
      {"GET", "/v1/jobs/ids", &Daemon::job_ids},
      {"GET", "/v1/jobs/{id}", &Daemon::show},
      {"GET", "/v1/jobs/{id}/log", &Daemon::read_log},
      {"GET", "/v1/jobs/{id}/usage", &Daemon::usage},
      {"POST", "/v1/texts/check", &Daemon::texts},
      {"POST", "/v1/texts/submit", &Daemon::texts},
      {"POST", "/v1/jobs/kill", &Daemon::command},
      {"POST", "/v1/jobs/signal", &Daemon::command},
      {"POST", "/v1/jobs/hold", &Daemon::command},
      {"POST", "/v1/jobs/release", &Daemon::command},
      {"POST", "/v1/jobs/pause", &Daemon::command},
      {"POST", "/v1/jobs/resume", &Daemon::command},
      {"POST", "/v1/jobs/rerun", &Daemon::command},
      {"POST", "/v1/jobs/edit", &Daemon::command},
      {"POST", "/v1/jobs/forget", &Daemon::forget},
      {"GET", "/v1/wait", &Daemon::wait},
      {"GET", "/v1/facets", &Daemon::facets},
      {"GET", "/v1/totals", &Daemon::totals},
      {"GET", "/v1/timeline", &Daemon::timeline},
      {"GET", "/v1/devices", &Daemon::list_devices},
      {"GET", "/v1/devices/history", &Daemon::device_history},
      {"POST", "/v1/devices/add", &Daemon::change_devices},
      {"POST", "/v1/devices/remove", &Daemon::change_devices},
      {"POST", "/v1/devices/drain", &Daemon::change_devices},
      {"POST", "/v1/devices/undrain", &Daemon::change_devices},
      {"GET", "/v1/events", &Daemon::listen},
      {"POST", "/v1/login", &Daemon::log_in},
      {"POST", "/v1/session", &Daemon::begin_session},
      {"POST", "/v1/session/end", &Daemon::end_session},
      {"GET", "/metrics", &Daemon::metrics},
  };
}

HttpResponse Daemon::index(const HttpRequest&) {
  std::vector<std::string> lines;
  for (const Route& route : routes()) {
    lines.push_back(fmt::format(R"({{"method":"{}","path":"{}"}})", route.method, route.path));
  }
  return json(fmt::format(R"({{"version":1,"routes":[{}]}})", fmt::join(lines, ",")));
}

void Daemon::handle(HttpRequest request, Reply reply) {
  if (serve_page(request, reply)) {
    return;
  }
  const std::string path = request.path;
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  // A word that is a command is no job's number.
  const bool spelled_out = std::any_of(routes().begin(), routes().end(),
                                       [&](const Route& route) { return route.path == path; });
  std::string allowed;
  for (const Route& route : routes()) {
    const auto id = spelled_out ? std::nullopt : match(route.path, path);
    if (!id && route.path != path) {
      continue;
    }
    if (route.method != method) {
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ",
                             route.method == "GET" ? "GET, HEAD" : route.method);
      continue;
    }
    if (method != "GET" && !can_promise()) {
      return reply->respond(failed({ErrorCode::Unavailable, commit_problem_}));
    }
    return go(route, std::move(request), std::move(reply), id);
  }
  if (allowed.empty()) {
    return answer(std::move(reply),
                  not_found(fmt::format("{} here: GET /v1 lists what there is", path)));
  }
  HttpResponse refusal = failed(
      {ErrorCode::Usage, fmt::format("{} is not for {}: it takes {}", path, method, allowed)});
  refusal.status = 405;
  refusal.headers.emplace_back("Allow", allowed);
  answer(std::move(reply), std::move(refusal));
}

void Daemon::go(const Route& route, HttpRequest request, Reply reply,
                std::optional<std::string_view> id) {
  JobId job;
  if (id) {
    const Result<std::int64_t> number = parse_integer(*id, "a job number");
    if (!number || *number < 1) {
      return answer(
          std::move(reply),
          failed(number ? Error{ErrorCode::Usage, "job numbers start at 1"} : number.error()));
    }
    job = JobId{static_cast<std::uint64_t>(*number)};
  }
  const Watchdog::Mark mark = watchdog_.mark(route.name);
  if (const auto* now = std::get_if<Route::Now>(&route.handler)) {
    HttpResponse response = (this->**now)(request);
    if (response.status == 409 && !may_change(request.peer, ::getuid())) {
      note_refusal(request.peer, route.name);
    }
    return answer(std::move(reply), std::move(response));
  }
  const std::string_view verb = route.path.substr(route.path.rfind('/') + 1);
  (this->*std::get<Route::Later>(route.handler))({std::move(request), std::move(reply), job, verb});
}

}  // namespace berth
