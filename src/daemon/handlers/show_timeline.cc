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

struct TimeSpans {
  Time from{};
  Time to{};
  std::size_t limit = 0;
  std::deque<JobId> expected;  // that are still to be looked at
  AttemptCursor cursor;
  std::map<std::int64_t, std::string> texts;  // of projects and sweeps
  Privacy privacy;
  uid_t viewer = 0;
  TimelineReply timeline;
  Turns::Reply reply;

  /// Until kNever: nobody can tell.
  void add(TimelineReply::Span span, Time begins, Time ends) {
    if (begins > to || ends < from) {
      return;
    }
    if (timeline.spans.size() == limit) {
      timeline.truncated = true;
      return;
    }
    if (!privacy.sees(viewer, span.user)) {
      span.name.clear();
      span.project.clear();
      span.sweep.clear();
    }
    span.from = seconds(begins);
    span.to = ends == kNever ? std::nullopt : std::optional(seconds(ends));
    timeline.spans.push_back(std::move(span));
  }
};

TimelineReply::Span span_of(const JobRecord& record, std::uint32_t attempt,
                            std::vector<std::string> gpus, std::string_view state) {
  TimelineReply::Span span;
  span.job = record.id;
  span.attempt = attempt;
  span.name = record.description.name;
  span.project = record.description.project;
  span.sweep = record.description.sweep;
  span.user = record.description.user;
  span.gpus = std::move(gpus);
  span.state = state;
  return span;
}

const std::string& shared_text(Desk& desk, TimeSpans& spans, std::int64_t text) {
  const auto [known, is_new] = spans.texts.try_emplace(text);
  if (is_new && text != 0) {
    known->second = desk.store.walks().shared_text(text).value_or("");
  }
  return known->second;
}

void add_ended_span(Desk& desk, TimeSpans& spans, const EndedAttempt& each) {
  const StoredAttempt& attempt = each.attempt;
  const Time start = attempt.started == kNever ? attempt.begun : attempt.started;
  TimelineReply::Span span;
  span.job = attempt.job;
  span.attempt = attempt.attempt;
  span.name = each.name;
  span.project = shared_text(desk, spans, each.project);
  span.sweep = shared_text(desk, spans, each.sweep);
  span.user = each.user;
  span.gpus = attempt.devices;
  span.state = outcome_name(attempt.ending->outcome);
  spans.add(std::move(span), start, std::max(start, attempt.ending->ended));
}

void add_present_spans(Desk& desk, const JobReports& reports, const DaemonDevices& devices,
                       TimeSpans& spans) {
  const Time at = desk.now();
  for (const JobId id : desk.scheduler().running()) {
    const Result<JobRecord> record = desk.store.jobs().record_without_environment(id);
    const DrivenAttempt* attempt = desk.driver.attempts().find(id);
    if (!record || attempt == nullptr) {
      continue;
    }
    const auto* starting = std::get_if<Starting>(&desk.scheduler().find(id)->state);
    const Time end = reports.expected_end(id);
    // Overdue, it is expected to end at any moment.
    spans.add(span_of(*record, record->attempt, devices.names(attempt->devices),
                      phase_name(record->phase)),
              starting != nullptr ? starting->since : record->started,
              end == kNever ? kNever : std::max(end, at));
  }
}

/// The forecast may be a little older than the queue, or younger than the request.
void add_expected_span(Desk& desk, const Forecast::Runs& runs, const DaemonDevices& devices,
                       TimeSpans& spans, JobId id) {
  const Time at = desk.now();
  const auto run = runs.find(id);
  const Time start = run == runs.end() ? kNever : std::max(run->second.start, at);
  const Result<JobRecord> record = start <= spans.to && start != kNever
                                       ? desk.store.jobs().record_without_environment(id)
                                       : fail(ErrorCode::NotFound, "");
  if (!record || record->phase != JobPhase::Queued) {
    return;
  }
  const Time end = run->second.end;
  spans.add(span_of(*record, record->attempt + 1u, devices.names(run->second.devices), "expected"),
            start, end == kNever ? kNever : std::max(end, start));
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
    const Result<bool> more = desk.store.walks().attempts(
        spans->cursor, spans->from, spans->to, kSpansAtOnce,
        [&](const EndedAttempt& each) { add_ended_span(desk, *spans, each); });
    if (more && *more && !spans->timeline.truncated) {
      return true;
    }
    spans->timeline.now = seconds(desk.now());
    desk.answer(std::move(spans->reply),
                more ? json(to_json(spans->timeline)) : failed(more.error()));
    return false;
  });
}

}  // namespace berth
