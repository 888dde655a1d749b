#include "daemon/job_reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/recipe.h"
#include "daemon/job_pauses.h"
#include "policy/policies.h"

namespace berth {
namespace {

/// A forecast that takes longer is used when it is there; that before it, until then.
constexpr Duration kForecastInOneGo = std::chrono::milliseconds(10);
/// How often a forecast is made that nobody asks for.
constexpr Duration kLookAhead = std::chrono::minutes(1);
/// One that fails at once and is tried again may have had thousands.
constexpr std::size_t kMostAttemptsShown = 1000;
constexpr std::size_t kMostObstacles = 3;  // that an explanation names

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

/// Only of jobs that wait for devices: others have no place in the order.
std::optional<PromiseReport> promise_of(const Scheduler& scheduler, const Job& job) {
  const std::optional<Promise> promise = scheduler.queue().contains(job) && !scheduler.paused()
                                             ? scheduler.policy().promise(job)
                                             : std::nullopt;
  if (!promise) {
    return std::nullopt;
  }
  const auto length = [](Duration time) { return time == kForever ? 0 : to_seconds(time); };
  return PromiseReport{seconds(promise->passed_until), length(promise->window),
                       length(promise->length), seconds(promise->start)};
}

/// "n2:0": the devices of a job on a cluster.
std::vector<std::string> names_of(const SlurmStanding& there) {
  std::vector<std::string> names;
  std::string_view numbers = there.gpus;
  while (!numbers.empty()) {
    names.push_back(fmt::format("{}:{}", there.node, take_until(numbers, ',')));
  }
  return names.empty() ? std::vector<std::string>{there.node} : names;
}

}  // namespace

JobReport JobReports::report(const JobRecord& record) const {
  JobReport report;
  report.id = record.id;
  report.description = record.description;
  report.state = phase_name(record.phase);
  report.attempt = record.attempt;
  if (const Job* job = desk_.scheduler().find(record.id); job != nullptr) {
    report.description.spec.needs =
        desk_.scheduler().needs(*job);                 // a claim may have changed since
    report.description.spec.expected = job->expected;  // a length may have been learned
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
    if (const auto attempts = desk_.store.attempts().of(record.id, 1);
        attempts && !attempts->empty()) {
      report.log = attempts->back().stdout_path;
      if (record.phase != JobPhase::Queued && record.phase != JobPhase::Held) {
        report.gpus = attempts->back().devices;
        report.pid = attempts->back().pid;
      }
    }
  }
  if (const std::optional<SlurmStanding> there = desk_.standing(record.id)) {
    if (record.phase == JobPhase::Starting && there->pending) {
      report.state = phase_name(JobPhase::Queued);
    } else if (record.phase == JobPhase::Running) {
      report.gpus = names_of(*there);
      report.node = there->node;
    }
    report.slurm_job = there->id;
  }
  if (record.phase == JobPhase::Running) {
    report.paused = JobPauses::is_stopped(report.pid);
    if (const DrivenAttempt* attempt = desk_.driver.attempts().find(record.id);
        attempt != nullptr) {
      report.peak = desk_.driver.memory().watch().peak(record.id);
      report.energy = attempt->energy;
      report.reason = attempt->warning;
      report.expected_end = seconds(expected_end(record.id));
    }
  }
  return report;
}

Result<JobReport> JobReports::full_report(const JobRecord& record) {
  JobReport full = report(record);
  const Result<std::vector<StoredAttempt>> attempts =
      desk_.store.attempts().of(record.id, kMostAttemptsShown);
  if (!attempts) {
    return Failure(attempts.error());
  }
  for (const StoredAttempt& attempt : *attempts) {
    full.attempts.push_back(report_of(attempt));
  }
  if (const auto there = desk_.standing(record.id); there && there->pending) {
    full.why = there->why;
  }
  if (const Job* job = desk_.scheduler().find(record.id); job != nullptr && job->waiting()) {
    add_expected_start(full);
    Explanation why = desk_.scheduler().explain(record.id, desk_.now());
    if (why.kind == Explanation::Kind::NoDevice && why.ahead == 0 && full.expected_start > 0) {
      why.until = kNever;  // the same again, in other words
    }
    const bool for_devices = why.kind == Explanation::Kind::NoDevice;
    full.why = explain_waiting(*job, std::move(why));
    full.promise = promise_of(desk_.scheduler(), *job);
    if (for_devices) {
      add_claim(*job, full);
    }
  }
  return full;
}

EventHub::Described JobReports::described(JobId id) const {
  const Result<JobRecord> record = desk_.store.jobs().record_without_environment(id);
  if (!record) {
    return {};
  }
  const JobReport full = report(*record);
  return {to_json(full), desk_.options.keep_private ? to_json(Privacy::hidden(full)) : "",
          record->description.user};
}

Time JobReports::expected_end(JobId id) const {
  const Job* job = desk_.scheduler().find(id);
  const auto* running = job == nullptr ? nullptr : std::get_if<Running>(&job->state);
  const DrivenAttempt* attempt = desk_.driver.attempts().find(id);
  if (running == nullptr || attempt == nullptr) {
    return kNever;
  }
  const Duration expected = job->expected != kForever
                                ? job->expected
                                : desk_.driver.lengths()
                                      .book()
                                      .outlook(attempt->facts.recipe, attempt->facts.user)
                                      .median;
  return add_saturating(running->since, std::min(expected, job->limit));
}

/// Why a job waits, with what stands in the way of devices that would serve it.
std::string JobReports::explain_waiting(const Job& job, Explanation why) const {
  const DeviceTable& table = desk_.scheduler().devices();
  std::vector<std::string> obstacles;
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const DeviceId device{i};
    const DeviceLocks::Obstacle* obstacle = devices_.obstacle(device);
    if (why.kind == Explanation::Kind::NoDevice && obstacle != nullptr &&
        table.fits_when_empty(device, desk_.scheduler().needs(job))) {
      obstacles.push_back(describe(*obstacle, devices_.name(device)));
      if (!obstacle->holder && why.taken > 0) {
        --why.taken;  // nobody has it: it is told what went wrong instead
      }
    }
  }
  std::string text = describe(why, desk_.now());
  const std::size_t shown = std::min(obstacles.size(), kMostObstacles);
  if (shown > 0) {
    text += fmt::format("; {}", fmt::join(obstacles.begin(), obstacles.begin() + shown, "; "));
  }
  if (shown < obstacles.size()) {
    text += fmt::format("; and {} more", obstacles.size() - shown);
  }
  return text;
}

/// What its claim comes from; or, where it has none because too little is known, how long that
/// lasts.
void JobReports::add_claim(const Job& job, JobReport& report) const {
  const Needs& needs = desk_.scheduler().needs(job);
  const MemoryLessons& memory = desk_.driver.memory();
  if (needs.claim != ClaimSource::Learned || needs.gpus == 0 || !memory.learns() ||
      job.traits().memory_retries > 0) {
    return;
  }
  const PeakOutlook outlook =
      memory.outlook(recipe_of(report.description.project, report.description.command));
  if (outlook.claim && needs.memory > Bytes{}) {
    report.claim_runs = outlook.runs;
  } else if (!outlook.claim && needs.alone()) {
    report.claim_runs_needed = outlook.more_runs;
  }
}

const Forecast::Runs& JobReports::expected_runs() {
  refresh_forecast();
  return forecast_.runs();
}

void JobReports::refresh_forecast() {
  const Time at = desk_.now();
  if (!forecast_.due(at)) {
    return;
  }
  Result<std::unique_ptr<Policy>> policy = make_live_policy(desk_.driver.policy());
  if (!policy) {
    return;
  }
  forecast_.begin(
      desk_.scheduler().forecast(std::move(*policy), desk_.driver.lengths().book().typical().median,
                                 kForecastJobs, at),
      at, desk_.now());
  if (play_forecast(kForecastInOneGo)) {
    desk_.turns.later_in_pieces([this] { return play_forecast(Turns::kInOneGo); });
  }
}

/// False when the forecast is played to the end. Then it is noted, to be judged later.
bool JobReports::play_forecast(Duration at_most) {
  if (forecast_.play(at_most, [this] { return desk_.now(); })) {
    return true;
  }
  const auto waits = [this](JobId id) {
    const Job* job = desk_.scheduler().find(id);
    return job != nullptr && desk_.scheduler().queue().contains(*job);
  };
  intervals_.keep(waits);
  for (const auto& [id, run] : forecast_.runs()) {
    if (waits(id)) {
      intervals_.note(id, run.start, forecast_.at());
    }
  }
  return false;
}

void JobReports::look_ahead(Time at) {
  if (desk_.scheduler().queue().size() > 0 && at - forecast_.at() >= kLookAhead) {
    refresh_forecast();
  }
}

void JobReports::add_expected_start(JobReport& report) {
  refresh_forecast();
  report.expected_start = expected_start(report.id);
  const auto found = forecast_.runs().find(report.id);
  if (found == forecast_.runs().end()) {
    return;
  }
  const std::optional<StartInterval> interval =
      intervals_.around(found->second.start, forecast_.at());
  const Time now = desk_.now();
  if (interval && interval->to > now) {
    report.expected_start_from = seconds(std::max(interval->from, now));
    report.expected_start_to = seconds(interval->to);
    report.expected_start_coverage = intervals_.coverage();
  }
}

/// In seconds since 1970; 0 when unknown.
double JobReports::expected_start(JobId id) const {
  const Forecast::Runs& runs = forecast_.runs();
  if (const auto found = runs.find(id); found != runs.end()) {
    return seconds(std::max(found->second.start, desk_.now()));
  }
  const Job* job = desk_.scheduler().find(id);
  if (job == nullptr || !desk_.scheduler().queue().contains(*job) || runs.size() < kForecastJobs) {
    return 0;
  }
  // Further back than was looked: at the pace of those in front.
  const auto ahead = static_cast<double>(desk_.scheduler().ahead_of(*job, kMostAhead));
  return seconds(desk_.now()) + to_seconds(forecast_.last_start() - forecast_.at()) * ahead /
                                    static_cast<double>(runs.size());
}

}  // namespace berth
