#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/units.h"
#include "daemon/handlers/jobs.h"
#include "daemon/handlers/time_parameter.h"

namespace berth {
namespace {

constexpr std::size_t kSpansAtOnce = 20;  // each becomes text
constexpr std::int64_t kMostSpans = 20'000;

std::string device_list(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) {
    quoted.push_back(quote(name));
  }
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

struct TimeSpans {
  Time from{};
  Time to{};
  std::size_t limit = 0;
  bool truncated = false;
  std::deque<JobId> expected;  // that are still to be looked at
  AttemptCursor cursor;
  std::map<std::int64_t, std::string> texts;  // of projects and sweeps, as JSON
  std::vector<std::string> spans;
  Privacy privacy;
  uid_t viewer = 0;
  Turns::Reply reply;

  struct Span {
    JobId job;
    int attempt = 0;
    std::string name;
    std::string project;  // as JSON
    std::string sweep;    // likewise
    uid_t user = 0;
    std::vector<std::string> devices;
    Time from{};
    Time to = kNever;  // kNever: nobody can tell
    std::string_view state;
  };

  void add(const Span& span) {
    if (span.from > to || span.to < from) {
      return;
    }
    if (spans.size() == limit) {
      truncated = true;
      return;
    }
    const bool sees = privacy.sees(viewer, span.user);
    const auto text = [&](const std::string& json) { return sees ? json : R"("")"; };
    spans.push_back(fmt::format(
        R"({{"job":{},"attempt":{},"name":{},"project":{},"sweep":{},"user":{},"gpus":{},"from":{:.3f},"to":{},"state":"{}"}})",
        span.job.value, span.attempt, text(quote(span.name)), text(span.project), text(span.sweep),
        span.user, device_list(span.devices), seconds(span.from),
        span.to == kNever ? "null" : fmt::format("{:.3f}", seconds(span.to)), span.state));
  }
};

const std::string& shared_json(Desk& desk, TimeSpans& spans, std::int64_t text) {
  const auto [known, is_new] = spans.texts.try_emplace(text, R"("")");
  if (is_new && text != 0) {
    if (const Result<std::string> content = desk.store.shared_text(text)) {
      known->second = quote(*content);
    }
  }
  return known->second;
}

void add_present_spans(Desk& desk, const JobReports& reports, const DaemonDevices& devices,
                       TimeSpans& spans) {
  const Time at = desk.now();
  for (const JobId id : desk.scheduler().running()) {
    const Result<JobRecord> record = desk.store.job_without_environment(id);
    const DrivenAttempt* attempt = desk.driver.attempt(id);
    if (!record || attempt == nullptr) {
      continue;
    }
    const auto* starting = std::get_if<Starting>(&desk.scheduler().find(id)->state);
    const Time end = reports.expected_end(id);
    const JobDescription& job = record->description;
    // Overdue, it is expected to end at any moment.
    spans.add({id, record->attempt, job.name, quote(job.project), quote(job.sweep), job.user,
               devices.names(attempt->devices),
               starting != nullptr ? starting->since : record->started,
               end == kNever ? kNever : std::max(end, at), phase_name(record->phase)});
  }
}

/// The forecast may be a little older than the queue, or younger than the request.
void add_expected_span(Desk& desk, const Forecast::Runs& runs, const DaemonDevices& devices,
                       TimeSpans& spans, JobId id) {
  const Time at = desk.now();
  const auto run = runs.find(id);
  const Time start = run == runs.end() ? kNever : std::max(run->second.start, at);
  const Result<JobRecord> record = start <= spans.to && start != kNever
                                       ? desk.store.job_without_environment(id)
                                       : fail(ErrorCode::NotFound, "");
  if (!record || record->phase != JobPhase::Queued) {
    return;
  }
  const JobDescription& job = record->description;
  const Time end = run->second.end;
  spans.add({id, record->attempt + 1, job.name, quote(job.project), quote(job.sweep), job.user,
             devices.names(run->second.devices), start,
             end == kNever ? kNever : std::max(end, start), "expected"});
}

}  // namespace

void show_timeline(Desk& desk, JobReports& reports, const DaemonDevices& devices,
                   RoutedRequest asked) {
  const Result<Time> from = time_parameter(asked.request, "from", Time{});
  const Result<Time> to = time_parameter(asked.request, "to", kNever);
  const Result<std::int64_t> limit =
      parse_integer(asked.request.parameter("limit").value_or("5000"), "limit");
  if (!from || !to || !limit) {
    return desk.answer(std::move(asked.reply), failed(!from ? from.error()
                                                      : !to ? to.error()
                                                            : limit.error()));
  }
  auto spans = std::make_shared<TimeSpans>();
  spans->from = *from;
  spans->to = *to;
  spans->limit = static_cast<std::size_t>(std::clamp<std::int64_t>(*limit, 1, kMostSpans));
  spans->privacy = desk.privacy;
  spans->viewer = asked.request.peer.uid;
  spans->reply = std::move(asked.reply);
  // The present first: whatever does not fit, that is there.
  add_present_spans(desk, reports, devices, *spans);
  for (const auto& [id, run] : reports.expected_runs()) {
    spans->expected.push_back(id);
  }
  desk.turns.in_pieces([&desk, &reports, &devices, spans] {
    if (spans->reply->gone()) {
      return false;
    }
    if (!spans->expected.empty()) {
      add_expected_span(desk, reports.expected_runs(), devices, *spans, spans->expected.front());
      spans->expected.pop_front();
      return true;
    }
    const Result<bool> more = desk.store.walk_attempts(
        spans->cursor, spans->from, spans->to, kSpansAtOnce, [&](const EndedAttempt& each) {
          const StoredAttempt& attempt = each.attempt;
          const Time start = attempt.started == kNever ? attempt.begun : attempt.started;
          spans->add(
              {attempt.job, attempt.attempt, each.name, shared_json(desk, *spans, each.project),
               shared_json(desk, *spans, each.sweep), each.user, attempt.devices, start,
               std::max(start, attempt.ending->ended), outcome_name(attempt.ending->outcome)});
        });
    if (more && *more && !spans->truncated) {
      return true;
    }
    desk.answer(std::move(spans->reply),
                more ? json(fmt::format(
                           R"({{"version":1,"now":{:.3f},"truncated":{},"spans":[{}]}})",
                           seconds(desk.now()), spans->truncated, fmt::join(spans->spans, ",")))
                     : failed(more.error()));
    return false;
  });
}

}  // namespace berth
