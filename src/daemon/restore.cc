#include "daemon/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

/// How long a process has been there, to the tick; nothing for none.
Duration age_of(pid_t pid) {
  const std::optional<ProcessIdentity> process = pid > 0 ? identify(pid) : std::nullopt;
  return process ? Duration((current_tick() - process->first_tick) * nanoseconds_per_tick())
                 : Duration{};
}

/// Nothing here may depend on how far a daemon came that died in the middle of it.
class Restorer {
 public:
  explicit Restorer(const RestoreParts& parts)
      : parts_(parts), desk_(parts.desk), at_(parts.desk.now()) {}

  Result<void> run() {
    find_attempts();
    (void)BERTH_FAILPOINT("daemon.restore_adopted");
    if (Result<void> read = take_up_jobs(); !read) {
      return read;
    }
    give_up_without_devices();
    note_unseen_starts();
    if (Result<void> adopted = adopt(); !adopted) {
      return adopted;
    }
    shift_starts();
    desk_.driver.mps().take_over(parts_.devices.list());
    if (Result<void> locked = parts_.devices.open_locks(parts_.state_folder, desk_.driver);
        !locked) {
      return locked;
    }
    if (Result<void> started = start_again(); !started) {
      return started;
    }
    for (const auto& [job, end] : ended_) {
      parts_.host.take_end(end, at_);
    }
    // The first turn commits it, and waits for room where the disk is full.
    (void)BERTH_FAILPOINT("daemon.restored");
    return {};
  }

 private:
  /// What shims tell of attempts that an earlier daemon began.
  void find_attempts() {
    for (const AttemptStart& start : parts_.runner.adopt()) {
      running_.emplace(start.job, start);
    }
    for (const AttemptEnd& end : parts_.runner.take_ends()) {
      ended_.emplace(end.job, end);
    }
  }

  Result<void> take_up_jobs() {
    const Result<void> read =
        desk_.store.jobs().for_each_live([this](const LiveJob& job) { take_up(job); });
    if (read) {
      return {};
    }
    return fail(read.error().code,
                fmt::format("cannot take up the queue in {}/berth.db ({}); berth leaves it as it "
                            "is: move it away to begin with an empty queue, or put a backup in its "
                            "place",
                            parts_.state_folder, read.error().message));
  }

  void take_up(const LiveJob& job) {
    Restore command{job.id, job.spec, std::min(job.submitted, at_), job.attempt, std::nullopt};
    command.spec.held = job.phase == JobPhase::Held;
    command.spec.begin = std::max(command.spec.begin, job.not_before);
    command.memory_retries = job.memory_retries;
    command.spec.owner = desk_.owners.of(job.project, job.user);
    if (job.claim) {
      command.spec.needs.memory = *job.claim;
      command.spec.needs.share = *job.claim == Bytes{} ? 0 : command.spec.needs.share;
    }
    if (job.phase == JobPhase::Starting || job.phase == JobPhase::Running) {
      take_up_attempt(job, command);
    }
    const Recipe recipe = recipe_of(job.project, job.command);
    const bool learned = desk_.driver.lengths().estimate(command.spec, recipe, job.user);
    desk_.driver.scheduler().tell(command, at_);
    desk_.fair_use.joined(job.id, 1, job.user, job.project.size() + job.command.size());
    if (job.outputs) {
      desk_.outputs.claim(job.id, 1, *job.outputs);
    }
    desk_.driver.memory().jobs_wait(job.id, 1, recipe);
    if (learned) {
      desk_.driver.lengths().jobs_wait(job.id, 1, recipe, job.user);
    }
  }

  /// The job has devices, as far as its record knows.
  void take_up_attempt(const LiveJob& job, Restore& command) {
    const bool runs = is_known(running_, job);
    if (!runs && !is_known(ended_, job) && may_have_run(job)) {
      ended_[job.id] = {job.id, job.attempt, AttemptEnd::Kind::Lost};
    }
    const bool is_over = is_known(ended_, job);
    Running state{DaemonDevices::slots(desk_.scheduler().devices(), job.devices),
                  std::min(job.started == kNever ? at_ : job.started + desk_.clock.shift(), at_),
                  job.stopping};
    if (is_over && job.started == kNever) {
      state.since = end_time(ended_.at(job.id));
    }
    if (!runs && !is_over && state.devices.size() != job.devices.size()) {
      without_devices_.push_back(job);
      return;
    }
    if (!runs && !is_over) {
      to_start_.push_back({job.id, job.attempt, state.devices});
      command.starting = true;
    } else if (job.phase == JobPhase::Starting && runs) {
      started_unseen_.push_back(running_.at(job.id));
      state.since = at_ - age_of(started_unseen_.back().pid);
    } else if (job.phase == JobPhase::Starting &&
               ended_.at(job.id).kind != AttemptEnd::Kind::NotStarted &&
               ended_.at(job.id).kind != AttemptEnd::Kind::Withdrawn) {
      started_unseen_.push_back({job.id, job.attempt, 0, ""});  // nor was its end
    }
    command.running = std::move(state);
    in_flight_.push_back(job.id);
  }

  /// Whether an attempt that left no trace may have run.
  bool may_have_run(const LiveJob& job) const {
    const bool started = job.phase == JobPhase::Running;
    return job.spec.needs.away() ? started
                                 : parts_.runner.may_have_run(job.id, job.attempt, started);
  }

  template <class Attempts>
  static bool is_known(const Attempts& attempts, const LiveJob& job) {
    const auto found = attempts.find(job.id);
    return found != attempts.end() && found->second.attempt == job.attempt;
  }

  /// When an attempt ended that nobody was there to see, as far as its shim wrote it down.
  Time end_time(const AttemptEnd& end) const {
    return end.ended_at == 0 ? at_ : std::min(at_, desk_.clock.from_wall(end.ended_at));
  }

  void give_up_without_devices() {
    for (const LiveJob& job : without_devices_) {
      Ending ending;
      ending.outcome = Outcome::Lost;
      ending.reason = EndReason::NotStarted;
      ending.ended = at_;
      ending.message = "the daemon ended before it was started, and its devices are gone";
      desk_.check(desk_.store.attempts().end(job.id, job.attempt, ending));
      desk_.check(desk_.store.jobs().set_waiting(job.id, false, Time{}));
    }
  }

  void note_unseen_starts() {
    for (const AttemptStart& start : started_unseen_) {
      const auto end = ended_.find(start.job);
      const auto* state = std::get_if<Running>(&desk_.scheduler().find(start.job)->state);
      const Time started = end != ended_.end() ? end_time(end->second)
                           : state != nullptr  ? state->since
                                               : at_;
      desk_.check(desk_.store.attempts().start(start.job, start.attempt, start.pid, started));
    }
  }

  Result<void> adopt() {
    for (const JobId id : in_flight_) {
      const Result<JobRecord> job = desk_.store.jobs().record(id);
      if (!job) {
        return Failure(job.error());
      }
      const auto attempts = desk_.store.attempts().of(id, 1);
      const auto start = running_.find(id);
      parts_.host.adopt(attempts && !attempts->empty() ? attempts->back() : StoredAttempt{}, *job,
                        start == running_.end() ? nullptr : &start->second);
    }
    return {};
  }

  /// The starts of running jobs, as the scheduler has been told, on the present clock: the next
  /// daemon knows of no earlier one.
  void shift_starts() {
    if (desk_.clock.shift() == Duration{}) {
      return;
    }
    for (const JobId id : in_flight_) {
      const Job& job = *desk_.scheduler().find(id);
      const auto* state = std::get_if<Running>(&job.state);
      const Result<std::vector<StoredAttempt>> attempts = desk_.store.attempts().of(id, 1);
      if (state != nullptr && attempts && !attempts->empty()) {
        desk_.check(
            desk_.store.attempts().start(id, job.attempt, attempts->back().pid, state->since));
      }
    }
  }

  /// What the daemon before had written down that it would start: the same attempt, with the same
  /// files.
  Result<void> start_again() {
    for (const StartJob& start : to_start_) {
      const Result<JobRecord> job = desk_.store.jobs().record(start.job);
      const Result<std::vector<StoredAttempt>> attempts = desk_.store.attempts().of(start.job, 1);
      if (!job || !attempts || attempts->empty()) {
        return fail(ErrorCode::Io, fmt::format("the record of job {} is damaged", start.job.value));
      }
      StoredAttempt attempt = attempts->back();
      attempt.begun = at_;  // from where its time limit counts
      parts_.host.start_again(start, attempt, *job, at_);
    }
    return {};
  }

  RestoreParts parts_;
  Desk& desk_;
  Time at_;
  std::map<JobId, AttemptStart> running_;
  std::map<JobId, AttemptEnd> ended_;
  std::vector<StartJob> to_start_;            // devices were written down, but no shim ever was
  std::vector<LiveJob> without_devices_;      // the same, and the devices are no longer there
  std::vector<AttemptStart> started_unseen_;  // their start was not on disk yet
  std::vector<JobId> in_flight_;
};

}  // namespace

Result<void> restore_jobs(const RestoreParts& parts) { return Restorer(parts).run(); }

Result<void> learn_lengths(Store& store, LengthLessons& lengths) {
  if (lengths.book().typical().known()) {
    return {};  // the file of what jobs have used tells more
  }
  constexpr std::size_t kMost = 1000;
  JobQuery query;
  query.filter.phases = {JobPhase::Succeeded};
  query.order = JobOrder::ByEnd;
  query.descending = true;
  query.limit = kMost;
  const Result<JobPage> page = store.jobs().list(query);
  if (!page) {
    return Failure(page.error());
  }
  for (auto job = page->jobs.rbegin(); job != page->jobs.rend(); ++job) {
    if (job->started != kNever && job->ending && job->ending->ended >= job->started) {
      lengths.learn({recipe_of(job->description.project, job->description.command), Bytes{},
                     job->ending->ended - job->started, job->description.user});
    }
  }
  return {};
}

}  // namespace berth
