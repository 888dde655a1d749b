// What shims tell: starts and ends of attempts.
#include <fmt/format.h>
#include <signal.h>

#include <utility>

#include "base/failpoint.h"
#include "daemon/last_words.h"
#include "daemon/output_path.h"
#include "daemon/shim_host.h"

namespace berth {
namespace {

bool is_stopping(const Job& job) {
  const auto* starting = std::get_if<Starting>(&job.state);
  const auto* running = std::get_if<Running>(&job.state);
  return (starting != nullptr && starting->stopping != Stopping::No) ||
         (running != nullptr && running->stopping != Stopping::No);
}

}  // namespace

void ShimHost::take_shim_events() {
  const Time at = now();
  for (const AttemptStart& start : parts_.runner.take_starts()) {
    take_start(start, at);
  }
  for (const AttemptEnd& end : parts_.runner.take_ends()) {
    take_end(end, at);
    (void)BERTH_FAILPOINT("daemon.end_seen");
  }
  for (const JobId job : parts_.runner.take_pauses()) {
    listeners_.pause_settled(job);
  }
}

void ShimHost::take_start(const AttemptStart& start, Time at) {
  const Job* job = desk_->scheduler().find(start.job);
  if (job == nullptr || !std::holds_alternative<Starting>(job->state) ||
      job->attempt != start.attempt) {
    return;
  }
  (void)BERTH_FAILPOINT("daemon.start_seen");
  desk_->driver.attempts().started(start.job, start.pid, start.cgroup, at);
  desk_->check(desk_->store.attempts().start(start.job, start.attempt, start.pid, at));
  ++desk_->counters.started;
  desk_->events.job_changed(start.job);
  listeners_.output_changed(start.job, false);
}

void ShimHost::take_end(const AttemptEnd& end, Time at) {
  const Job* job = desk_->scheduler().find(end.job);
  if (job == nullptr || job->lease() == nullptr || job->attempt != end.attempt) {
    parts_.runner.forget(end.job, end.attempt);  // known already
    return;
  }
  if (end.kind == AttemptEnd::Kind::Withdrawn && !end.cancelled_there && !is_stopping(*job)) {
    // An earlier daemon took it back, and did not live to say what for.
    desk_->driver.attempts().take_back(end.job, at);
    desk_->check(desk_->store.jobs().set_waiting(end.job, false, Time{}));
    parts_.runner.forget(end.job, end.attempt);
    return;
  }
  AttemptOver over{end.job, end.code, end.signal};
  switch (end.kind) {
    case AttemptEnd::Kind::Exited:
      break;
    case AttemptEnd::Kind::NotStarted:
      over.kind = AttemptOver::Kind::NotStarted;
      over.note =
          end.note.empty() ? describe_start_error(end.start_error, end.start_step) : end.note;
      break;
    case AttemptEnd::Kind::Withdrawn:
      over.signal = SIGTERM;
      over.note = end.note;
      break;
    case AttemptEnd::Kind::Lost:
      over.kind = AttemptOver::Kind::Lost;
      over.note = end.note.empty() ? "nobody saw how it ended" : end.note;
  }
  if (end.kind == AttemptEnd::Kind::Exited) {
    over.note = end.note;
  }
  if (desk_->driver.attempts().asks_for_output(over) && await_words(end)) {
    return;
  }
  Attempt& attempt = attempts_[end.job];
  attempt.ended = end.ended_at == 0 ? kNever : parts_.clock.from_wall(end.ended_at);
  over.output_end = attempt.words.value_or("");
  if (const auto* starting = std::get_if<Starting>(&job->state);
      starting != nullptr && end.kind == AttemptEnd::Kind::Exited) {
    // It started and ended before anybody was told, as while no daemon was there.
    desk_->check(desk_->store.attempts().start(end.job, end.attempt, 0, starting->since));
  }
  take_use(end);
  if (end.cancelled_there) {
    (void)desk_->driver.scheduler().tell(Cancel{end.job}, at).has_value();
  }
  desk_->driver.attempts().over(std::move(over), at);
}

/// What an attempt on a cluster has used.
void ShimHost::take_use(const AttemptEnd& end) {
  if (end.peak > 0 || end.energy) {
    desk_->driver.attempts().used_elsewhere(end.job, Bytes{end.peak}, end.energy);
  }
}

/// True when its last words are not there yet: the end is taken again when they are.
bool ShimHost::await_words(const AttemptEnd& end) {
  Attempt& attempt = attempts_[end.job];
  const DrivenAttempt* driven = desk_->driver.attempts().find(end.job);
  if (attempt.words || driven == nullptr) {
    return false;
  }
  attempt.awaits_words = false;
  read_last_words(
      parts_.files.users, driven->facts.user, attempt.stdout_path, attempt.stderr_path,
      [this, end](std::string words) {
        const DrivenAttempt* still = desk_->driver.attempts().find(end.job);
        const auto found = attempts_.find(end.job);
        if (still == nullptr || still->number != end.attempt || found == attempts_.end()) {
          return;
        }
        found->second.words = std::move(words);
        if (found->second.awaits_words) {
          take_end(end, now());
        }
      });
  attempt.awaits_words = !attempt.words;
  return attempt.awaits_words;
}

/// In a turn of its own: the present one has been committed.
void ShimHost::end_unstarted(JobId job, std::uint16_t attempt, AttemptOver over) {
  parts_.loop.post([this, job, attempt, over = std::move(over)] {
    const Job* known = desk_->scheduler().find(job);
    if (known != nullptr && known->lease() != nullptr && known->attempt == attempt) {
      desk_->driver.attempts().over(over, now());
    }
  });
}

Ending ShimHost::ending_of(const Ended& ended, JobId job, const DrivenAttempt* attempt) const {
  Ending ending;
  ending.outcome = ended.outcome;
  ending.reason = ended.reason;
  ending.exit_code = ended.exit_code;
  ending.signal = ended.signal;
  ending.ended = ended.ended;
  if (attempt == nullptr) {
    return ending;
  }
  const MemoryWatch& memory = desk_->driver.memory().watch();
  ending.peak = memory.peak(job);
  if (ending.peak > Bytes{}) {
    ending.peaks = memory.peaks(job, attempt->devices);
  }
  ending.energy = attempt->energy;
  ending.message = attempt->note.empty() ? attempt->warning : attempt->note;
  const auto own = attempts_.find(job);
  const Time seen = own == attempts_.end() ? kNever : own->second.ended;
  if (seen != kNever && seen < ending.ended && seen >= ended.started) {
    ending.ended = seen;  // nobody was there to see it at once
  }
  if (ended.started != kNever) {
    const Job* known = desk_->scheduler().find(job);
    const bool away = known != nullptr && desk_->scheduler().needs(*known).away();
    const auto devices = away ? desk_->scheduler().needs(*known).gpus : attempt->devices.size();
    ending.gpu_time = (ending.ended - ended.started) * static_cast<std::int64_t>(devices);
  }
  return ending;
}

void ShimHost::requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time) {
  const JobId id = requeued.job;
  Store& store = desk_->store;
  desk_->check(
      store.attempts().end(id, requeued.number, ending_of(requeued.attempt, id, &attempt)));
  desk_->check(store.jobs().set_waiting(id, false, requeued.not_before));
  if (requeued.attempt.outcome == Outcome::Oom || requeued.attempt.reason == EndReason::Profile) {
    const Job& job = *desk_->scheduler().find(id);
    desk_->check(store.jobs().set_claim(id, desk_->scheduler().needs(job).memory,
                                        job.traits().memory_retries));
  }
  attempts_.erase(id);
  parts_.files.room.drop(id);
  desk_->events.job_changed(id);
  desk_->turns.after_commit([this, id, number = requeued.number] {
    listeners_.attempt_over(id, number);
    parts_.runner.forget(id, number);
    listeners_.output_changed(id, true);
  });
}

void ShimHost::ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time) {
  const bool ran = ended.started != kNever || ended.reason == EndReason::NotStarted;
  const Ending ending = ending_of(ended, job.id, attempt);
  if (ran) {
    desk_->check(desk_->store.attempts().end(job.id, job.attempt, ending));
  }
  desk_->check(desk_->store.jobs().end(job.id, ending));
  ++desk_->counters.ended[static_cast<std::size_t>(phase_of(ended.outcome))];
  desk_->fair_use.left(job.id);
  desk_->outputs.left(job.id);
  attempts_.erase(job.id);
  parts_.files.room.drop(job.id);
  desk_->events.job_changed(job.id);
  desk_->turns.after_commit(
      [this, id = job.id, number = job.attempt, ran, failed = ended.outcome != Outcome::Succeeded] {
        listeners_.attempt_over(id, number);
        (void)BERTH_FAILPOINT("daemon.before_forget");
        if (ran) {
          parts_.runner.forget(id, number);
        }
        (void)BERTH_FAILPOINT("daemon.after_forget");
        listeners_.output_changed(id, true);
        listeners_.job_ended(id, failed);
      });
}

}  // namespace berth
