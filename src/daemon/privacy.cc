#include "daemon/privacy.h"

namespace berth {
namespace {

constexpr const char* kHidden = "(hidden)";

}  // namespace

JobReport Privacy::shown(JobReport report, uid_t viewer) const {
  return sees(viewer, report.description.user) ? std::move(report) : hidden(report);
}

/// Names what is shown, so that a field that is added later stays hidden.
JobReport Privacy::hidden(const JobReport& report) {
  JobReport out;
  out.id = report.id;
  out.state = report.state;
  out.attempt = report.attempt;
  out.gpus = report.gpus;
  out.node = report.node;
  out.submitted = report.submitted;
  out.started = report.started;
  out.ended = report.ended;
  out.paused = report.paused;
  out.expected_start = report.expected_start;
  out.expected_start_from = report.expected_start_from;
  out.expected_start_to = report.expected_start_to;
  out.expected_start_coverage = report.expected_start_coverage;
  out.expected_end = report.expected_end;
  out.gpu_seconds = report.gpu_seconds;
  JobDescription& description = out.description;
  description.user = report.description.user;
  description.command = kHidden;
  description.directory = kHidden;
  const JobSpec& spec = report.description.spec;
  description.spec.needs = spec.needs;
  description.spec.priority = spec.priority;
  description.spec.weight = spec.weight;
  description.spec.expected = spec.expected;
  description.spec.limit = spec.limit;
  description.spec.begin = spec.begin;
  description.spec.held = spec.held;
  for (const AttemptReport& attempt : report.attempts) {
    AttemptReport& shown = out.attempts.emplace_back();
    shown.attempt = attempt.attempt;
    shown.gpus = attempt.gpus;
    shown.started = attempt.started;
    shown.ended = attempt.ended;
    shown.outcome = attempt.outcome;
  }
  return out;
}

JobFilter Privacy::narrowed(JobFilter filter, uid_t viewer) const {
  const bool looks = !filter.or_named.empty() || !filter.names.empty() || filter.project ||
                     filter.sweep || !filter.labels.empty();
  return looks ? own_only(std::move(filter), viewer) : std::move(filter);
}

JobFilter Privacy::own_only(JobFilter filter, uid_t viewer) const {
  if (sees_all(viewer)) {
    return filter;
  }
  if (filter.user && *filter.user != viewer) {
    filter.phases.clear();
    filter.or_named.clear();
    filter.ids = {{JobId{0}, JobId{0}}};  // no job has that number
  }
  filter.user = viewer;
  return filter;
}

}  // namespace berth
