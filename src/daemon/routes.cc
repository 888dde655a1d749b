#include "daemon/routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
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

Result<JobId> parse_job(std::string_view id) {
  const Result<std::int64_t> number = parse_integer(id, "a job number");
  if (!number) {
    return Failure(number.error());
  }
  if (*number < 1) {
    return fail(ErrorCode::Usage, "job numbers start at 1");
  }
  return JobId{static_cast<std::uint64_t>(*number)};
}

/// The path is there, for other methods.
HttpResponse wrong_method(std::string_view path, std::string_view method,
                          const std::string& allowed) {
  HttpResponse refusal = failed(
      {ErrorCode::Usage, fmt::format("{} is not for {}: it takes {}", path, method, allowed)});
  refusal.status = 405;
  refusal.headers.emplace_back("Allow", allowed);
  return refusal;
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (Route& route : routes_) {
    route.name = fmt::format("{} {}", route.method, route.path);
  }
}

RouteTable::Found RouteTable::find(const HttpRequest& request) const {
  const std::string_view path = request.path;
  const std::string_view method =
      request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  // A word that is a command is no job's number.
  const bool spelled_out = std::any_of(routes_.begin(), routes_.end(),
                                       [&](const Route& route) { return route.path == path; });
  std::string allowed;
  for (const Route& route : routes_) {
    const auto id = spelled_out ? std::nullopt : match(route.path, path);
    if (!id && route.path != path) {
      continue;
    }
    if (route.method != method) {
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ",
                             route.method == "GET" ? "GET, HEAD" : route.method);
      continue;
    }
    const Result<JobId> job = id ? parse_job(*id) : Result<JobId>(JobId{});
    return job ? Found{&route, *job, {}} : Found{nullptr, {}, failed(job.error())};
  }
  return {nullptr,
          {},
          allowed.empty() ? not_found(fmt::format("{} here: GET /v1 lists what there is", path))
                          : wrong_method(path, method, allowed)};
}

IndexReply RouteTable::index() const {
  IndexReply reply;
  for (const Route& route : routes_) {
    reply.routes.push_back({std::string(route.method), std::string(route.path)});
  }
  return reply;
}

}  // namespace berth
