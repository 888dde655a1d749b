#include "daemon/job_choice.h"

#include "daemon/job_pauses.h"
#include "daemon/selector.h"

namespace berth {
namespace {

std::vector<JobId> paused_jobs(const Driver& driver) {
  std::vector<JobId> paused;
  for (const auto& [job, attempt] : driver.attempts().all()) {
    if (attempt.pid > 0 && JobPauses::is_stopped(attempt.pid)) {
      paused.push_back(job);
    }
  }
  return paused;
}

}  // namespace

Result<JobFilter> choose_jobs(const Desk& desk, const HttpRequest& request) {
  const SelectorFacts facts{
      [&desk] { return paused_jobs(desk.driver); },
      [&](std::size_t back) { return desk.recent.find(request.peer.uid, back); }};
  return parse_selector(request.parameters("select"), facts);
}

Result<JobFilter> choose_listed_jobs(const Desk& desk, const HttpRequest& request) {
  Result<JobFilter> filter = choose_jobs(desk, request);
  if (filter && request.parameter("all").value_or("0") != "1" && filter->phases.empty() &&
      filter->ids.empty()) {
    filter->phases = {JobPhase::Held, JobPhase::Queued, JobPhase::Starting, JobPhase::Running};
  }
  if (filter) {
    *filter = desk.privacy.narrowed(std::move(*filter), request.peer.uid);
  }
  return filter;
}

}  // namespace berth
