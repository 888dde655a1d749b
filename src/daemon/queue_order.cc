#include "daemon/queue_order.h"

#include <algorithm>
#include <array>

#include "core/queue_order.h"

namespace berth {
namespace {

constexpr std::array kEnds = {JobPhase::Succeeded, JobPhase::Failed, JobPhase::Cancelled,
                              JobPhase::TimedOut,  JobPhase::Oom,    JobPhase::Lost};
enum Group { kRunning, kExpected, kInQueue, kLater, kHeld };

std::int64_t number_of(Time time) { return time.time_since_epoch().count(); }

/// A job that starts has not run yet: behind those that run.
std::int64_t start_of(const Job* job) {
  const auto* running = job == nullptr ? nullptr : std::get_if<Running>(&job->state);
  return number_of(running == nullptr ? kNever : running->since);
}

bool is_queued(const Job* job) {
  return job != nullptr && std::holds_alternative<Queued>(job->state);
}

bool has(const std::vector<JobPhase>& phases, JobPhase phase) {
  return phases.empty() || std::find(phases.begin(), phases.end(), phase) != phases.end();
}

}  // namespace

QueueOrder::Place QueueOrder::place(JobId id, JobPhase phase, Time ended) {
  const Job* job = desk_.scheduler().find(id);
  switch (phase) {
    case JobPhase::Running:
    case JobPhase::Starting:
      return {kRunning, start_of(job)};
    case JobPhase::Queued: {
      const Forecast::Runs& expected = reports_.expected_runs();
      if (const auto run = expected.find(id); run != expected.end()) {
        return {kExpected, number_of(run->second.start)};
      }
      const bool competes = is_queued(job) && desk_.scheduler().queue().contains(*job);
      return competes ? Place{kInQueue, job->rank} : Place{kLater, 0};
    }
    case JobPhase::Held:
      return {kHeld, 0};
    case JobPhase::Succeeded:
    case JobPhase::Failed:
    case JobPhase::Cancelled:
    case JobPhase::TimedOut:
    case JobPhase::Oom:
    case JobPhase::Lost:
      break;
  }
  return {kEnded, -number_of(ended)};
}

bool QueueOrder::quick(const JobFilter& filter) {
  const auto ends = std::count_if(kEnds.begin(), kEnds.end(),
                                  [&](JobPhase end) { return has(filter.phases, end); });
  return (ends == 0 || ends == static_cast<std::ptrdiff_t>(kEnds.size())) && !filter.only_running &&
         filter.ids.empty() && filter.or_named.empty() && filter.names.empty() && !filter.project &&
         filter.labels.empty() && !filter.user && !filter.sweep;
}

void QueueOrder::Found::add(JobId job) {
  if (!full() && known.insert(job).second) {
    jobs.push_back(job);
  }
}

void QueueOrder::add_running(Found& found, bool starting, bool running) const {
  std::vector<std::pair<std::int64_t, JobId>> order;
  for (const JobId id : desk_.scheduler().running()) {
    const std::int64_t start = start_of(desk_.scheduler().find(id));
    if (start == number_of(kNever) ? starting : running) {
      order.emplace_back(start, id);
    }
  }
  std::sort(order.begin(), order.end());
  for (const auto& [start, id] : order) {
    found.add(id);
  }
}

void QueueOrder::add_expected(Found& found) {
  std::vector<std::pair<std::int64_t, JobId>> order;
  for (const auto& [id, run] : reports_.expected_runs()) {
    if (is_queued(desk_.scheduler().find(id))) {  // else it has started since
      order.emplace_back(number_of(run.start), id);
    }
  }
  std::sort(order.begin(), order.end());
  for (const auto& [start, id] : order) {
    found.add(id);
  }
}

void QueueOrder::add_queued(Found& found) const {
  const std::size_t looks = found.most + found.known.size();
  for (const JobId id : first_in_order(desk_.scheduler().queue(), looks)) {
    found.add(id);
  }
}

/// Jobs that are there already are passed over: at most as many as there are.
Result<void> QueueOrder::add_stored(Found& found, JobQuery query) const {
  do {
    query.limit = std::max<std::size_t>(found.most - found.jobs.size(), 1);
    const Result<JobPage> page = desk_.store.jobs().list(query);
    if (!page) {
      return Failure(page.error());
    }
    for (const JobRecord& job : page->jobs) {
      found.add(job.id);
    }
    query.after = page->next;
  } while (query.after && !found.full());
  return {};
}

Result<std::vector<JobId>> QueueOrder::first(const std::vector<JobPhase>& phases,
                                             std::size_t most) {
  Found found;
  found.most = most;
  add_running(found, has(phases, JobPhase::Starting), has(phases, JobPhase::Running));
  if (has(phases, JobPhase::Queued)) {
    add_expected(found);
    add_queued(found);
  }
  for (const JobPhase phase : {JobPhase::Queued, JobPhase::Held}) {
    JobQuery query;
    query.filter.phases = {phase};
    if (const Result<void> added = has(phases, phase) && !found.full()
                                       ? add_stored(found, std::move(query))
                                       : Result<void>();
        !added) {
      return Failure(added.error());
    }
  }
  if (has(phases, JobPhase::Succeeded) && !found.full()) {
    JobQuery query;
    query.order = JobOrder::ByEnd;
    query.descending = true;
    if (const Result<void> added = add_stored(found, std::move(query)); !added) {
      return Failure(added.error());
    }
  }
  return std::move(found.jobs);
}

}  // namespace berth
