// Telling clients about jobs.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/job_walk.h"
#include "daemon/replies.h"
#include "daemon/secrets.h"
#include "daemon/selector.h"
#include "policy/policies.h"

namespace berth {
namespace {

/// A forecast that takes longer is used when it is there; that before it, until then.
constexpr Duration kForecastInOneGo = std::chrono::milliseconds(10);

/// How much there can be on a page, about: it becomes one text, and nobody is served meanwhile.
constexpr std::size_t kPageBytes = std::size_t{256} * 1024;
constexpr std::int64_t kMostOnAPage = 1000;
/// Jobs may be long.
constexpr std::size_t kListedAtOnce = 10;
constexpr Duration kListInOneGo = std::chrono::milliseconds(5);

/// One that fails at once and is tried again may have had thousands.
constexpr std::size_t kMostAttemptsShown = 1000;

/// About how long a job is as JSON.
std::size_t length_of(const JobDescription& job) {
  std::size_t length = 600 + job.command.size() + job.directory.size() + job.output.size() +
                       job.error.size() + 16 * job.spec.after.size();
  for (const auto* pairs : {&job.labels, &job.parameters}) {
    for (const auto& [key, value] : *pairs) {
      length += key.size() + value.size() + 6;
    }
  }
  return length;
}

/// Whether the process is stopped, by `berth pause` or by anybody else.
bool is_stopped(pid_t pid) {
  if (pid <= 0) {
    return false;
  }
  const Fd file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t got = file ? ::read(file.get(), text, sizeof text) : 0;
  const std::string_view stat(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  // The state follows the name, which is in brackets and may hold brackets itself.
  const std::size_t bracket = stat.rfind(')');
  return bracket != stat.npos && stat.substr(bracket).starts_with(") T");
}

void add_ending(AttemptReport& report, const StoredAttempt& attempt) {
  if (!attempt.ending) {
    return;
  }
  const Ending& ending = *attempt.ending;
  report.ended = seconds(ending.ended);
  report.outcome = outcome_name(ending.outcome);
  if (ending.signal != 0) {
    report.signal = ending.signal;
  } else if (attempt.started != kNever && ending.outcome != Outcome::Lost) {
    report.exit_code = ending.exit_code;
  }
  report.reason = ending.message;
  report.peak = ending.peak;
  report.peaks = ending.peaks;
}

AttemptReport report_of(const StoredAttempt& attempt) {
  AttemptReport report;
  report.attempt = attempt.attempt;
  report.gpus = attempt.devices;
  report.pid = attempt.pid;
  report.started = seconds(attempt.started);
  report.log = attempt.stdout_path;
  report.error_log = attempt.stderr_path;
  add_ending(report, attempt);
  return report;
}

/// Why a job ended as it did, where its state and exit code do not say.
std::string reason_of(const Ending& ending) {
  if (!ending.message.empty()) {
    return ending.message;
  }
  switch (ending.reason) {
    case EndReason::TimeLimit:
      return "it reached its time limit";
    case EndReason::Dependency:
      return "a job that it had to follow did not end as required";
    case EndReason::NotStarted:
      return "its command could not be started";
    case EndReason::Exited:
    case EndReason::Cancelled:
    case EndReason::Lost:
      return "";
    case EndReason::Profile:
      return "it ran only to see how much GPU memory it uses";
    case EndReason::Memory:
      return "it used more GPU memory than it claimed while others shared the GPU";
  }
  return "";
}

}  // namespace

/// The signal passes through its shim, and each process stops when it gets to it.
void Daemon::settle_pauses(Time at) {
  std::erase_if(pausing_, [&](const auto& entry) {
    const auto& [id, pausing] = entry;
    const DrivenAttempt* attempt = driver_->attempt(id);
    const bool waits =
        attempt != nullptr && at < pausing.until && is_stopped(attempt->pid) != pausing.stopped;
    if (!waits) {
      events_->job_changed(id);
    }
    return !waits;
  });
}

JobReport Daemon::report(const JobRecord& record) {
  JobReport report;
  report.id = record.id;
  report.description = record.description;
  report.state = phase_name(record.phase);
  report.attempt = record.attempt;
  if (const Job* job = scheduler().find(record.id); job != nullptr) {
    report.description.spec.needs = scheduler().needs(*job);  // a claim may have changed since
  }
  report.submitted = seconds(record.submitted);
  report.started = seconds(record.started);
  if (record.ending) {
    report.ended = seconds(record.ending->ended);
    if (record.ending->signal != 0) {
      report.signal = record.ending->signal;
    } else if (record.started != kNever && record.phase != JobPhase::Lost) {
      report.exit_code = record.ending->exit_code;
    }
    report.reason = reason_of(*record.ending);
    report.peak = record.ending->peak;
    report.gpu_seconds = to_seconds(record.ending->gpu_time);
    report.energy = record.ending->energy;
  }
  if (record.attempt > 0) {
    if (const auto attempts = store_->attempts(record.id, 1); attempts && !attempts->empty()) {
      report.log = attempts->back().stdout_path;
      if (record.phase != JobPhase::Queued && record.phase != JobPhase::Held) {
        report.gpus = attempts->back().devices;
        report.pid = attempts->back().pid;
      }
    }
  }
  if (record.phase == JobPhase::Running) {
    report.paused = is_stopped(report.pid);
    if (const DrivenAttempt* attempt = driver_->attempt(record.id); attempt != nullptr) {
      report.peak = driver_->memory().watch().peak(record.id);
      report.energy = attempt->energy;
      report.reason = attempt->warning;
      report.expected_end = seconds(expected_end(record.id));
    }
  }
  return report;
}

/// What listeners are told of it; none: it is gone.
EventHub::Described Daemon::described(JobId id) {
  const Result<JobRecord> record = store_->job_without_environment(id);
  if (!record) {
    return {};
  }
  const JobReport full = report(*record);
  return {to_json(full), options_.keep_private ? to_json(Privacy::hidden(full)) : "",
          record->description.user};
}

/// Those that have ended are for who asks for all, for states or for numbers.
Result<JobFilter> Daemon::chosen_jobs(const HttpRequest& request) const {
  Result<JobFilter> filter = parse_selector(request.parameters("select"));
  if (filter && request.parameter("all").value_or("0") != "1" && filter->phases.empty() &&
      filter->ids.empty()) {
    filter->phases = {JobPhase::Held, JobPhase::Queued, JobPhase::Starting, JobPhase::Running};
  }
  if (filter) {
    *filter = privacy_.narrowed(std::move(*filter), user_of(request.peer));
  }
  return filter;
}

/// A page that is being put together.
struct Daemon::JobList {
  JobList(JobQuery query, const Store& store) : walk(std::move(query), store) {}

  JobWalk walk;
  std::size_t left = 0;
  std::size_t length = 0;
  std::vector<JobReport> reports;
  uid_t viewer = kNobody;
  Reply reply;
};

void Daemon::list(Asked asked) {
  const HttpRequest& request = asked.request;
  Result<JobFilter> filter = chosen_jobs(request);
  if (!filter) {
    return answer(std::move(asked.reply), failed(filter.error()));
  }
  JobQuery query;
  query.filter = std::move(*filter);
  const Result<std::int64_t> after =
      parse_integer(request.parameter("after").value_or("0"), "after");
  const Result<std::int64_t> limit =
      parse_integer(request.parameter("limit").value_or("100"), "limit");
  if (!after || !limit) {
    return answer(std::move(asked.reply), failed(!after ? after.error() : limit.error()));
  }
  query.descending = request.parameter("descending").value_or("0") == "1";
  if (*after > 0) {
    query.after = JobCursor{JobId{static_cast<std::uint64_t>(*after)}, {}};
  }
  auto list = std::make_shared<JobList>(std::move(query), *store_);
  list->left = static_cast<std::size_t>(std::clamp<std::int64_t>(*limit, 1, kMostOnAPage));
  list->viewer = user_of(asked.request.peer);
  list->reply = std::move(asked.reply);
  in_pieces([this, list] { return continue_list(*list); }, kListInOneGo);
}

bool Daemon::continue_list(JobList& list) {
  if (list.reply->gone()) {
    return false;
  }
  const Result<std::vector<JobRecord>> jobs =
      list.walk.next(*store_, std::min(list.left, kListedAtOnce));
  if (!jobs) {
    answer(std::move(list.reply), failed(jobs.error()));
    return false;
  }
  bool full = false;
  for (const JobRecord& record : *jobs) {
    if (list.length >= kPageBytes) {
      full = true;
      break;
    }
    list.length += length_of(record.description);
    list.reports.push_back(privacy_.shown(report(record), list.viewer));
    --list.left;
    if (record.phase == JobPhase::Queued) {
      list.reports.back().expected_start = expected_start(record.id);
    }
  }
  full = full || (!list.walk.over() && (list.left == 0 || list.length >= kPageBytes));
  if (!full && !list.walk.over()) {
    return true;
  }
  answer(std::move(list.reply),
         json(to_json(list.reports, full ? std::optional(list.reports.back().id) : std::nullopt)));
  return false;
}

/// Of a running job: as it said, as jobs of its kind have taught, or when its time is over; kNever
/// where nobody can tell.
Time Daemon::expected_end(JobId id) const {
  const Job* job = scheduler().find(id);
  const auto* running = job == nullptr ? nullptr : std::get_if<Running>(&job->state);
  const DrivenAttempt* attempt = driver_->attempt(id);
  if (running == nullptr || attempt == nullptr) {
    return kNever;
  }
  const Duration expected =
      job->expected != kForever ? job->expected : history_.expected(attempt->facts.recipe.key);
  return add_saturating(running->since, std::min(expected, job->limit));
}

void Daemon::show(Asked asked) {
  answer(std::move(asked.reply), shown(asked.job, asked.request.peer));
}

HttpResponse Daemon::shown(JobId id, const Peer& peer) {
  const Result<JobRecord> record = store_->job(id);
  if (!record) {
    return failed(record.error());
  }
  JobReport full = report(*record);
  if (may_change(peer, record->description.user)) {
    full.environment = mask_secrets(record->description.environment);
  }
  const Result<std::vector<StoredAttempt>> attempts = store_->attempts(id, kMostAttemptsShown);
  if (!attempts) {
    return failed(attempts.error());
  }
  for (const StoredAttempt& attempt : *attempts) {
    full.attempts.push_back(report_of(attempt));
  }
  if (const Job* job = scheduler().find(id); job != nullptr && job->waiting()) {
    full.expected_start = expected_start(id);
    Explanation why = scheduler().explain(id, now());
    if (why.kind == Explanation::Kind::NoDevice && why.ahead == 0 && full.expected_start > 0) {
      why.until = kNever;  // the same again, in other words
    }
    full.why = explain_waiting(*job, std::move(why));
  }
  return json(to_json(privacy_.shown(std::move(full), user_of(peer))));
}

void Daemon::refresh_forecast() {
  const Time at = now();
  if (!forecast_.due(at)) {
    return;
  }
  Result<std::unique_ptr<Policy>> policy = make_live_policy(policy_);
  if (!policy) {
    return;
  }
  forecast_.begin(scheduler().forecast(std::move(*policy), history_.typical(), kForecastJobs, at),
                  at, now());
  if (forecast_.play(kForecastInOneGo, [this] { return now(); })) {
    next_turn_.push_back([this] {
      in_pieces([this] { return forecast_.play(kInOneGo, [this] { return now(); }); });
    });
  }
}

/// Seconds since 1970; 0 where nobody can tell.
double Daemon::expected_start(JobId id) {
  refresh_forecast();
  const Forecast::Runs& runs = forecast_.runs();
  if (const auto found = runs.find(id); found != runs.end()) {
    return seconds(std::max(found->second.start, now()));
  }
  const Job* job = scheduler().find(id);
  if (job == nullptr || !scheduler().queue().contains(*job) || runs.size() < kForecastJobs) {
    return 0;
  }
  // Further back than was looked: at the pace of those in front.
  const auto ahead = static_cast<double>(scheduler().ahead_of(*job, kMostAhead));
  return seconds(now()) + to_seconds(forecast_.last_start() - forecast_.at()) * ahead /
                              static_cast<double>(runs.size());
}

}  // namespace berth
