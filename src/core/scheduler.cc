// The life of a job: from submission through attempts to its end. Decisions are in decide.cc.
#include "core/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace berth {
namespace {

Failure no_such_job(JobId job) {
  return fail(ErrorCode::NotFound, fmt::format("there is no job {}", job.value));
}

/// The last number that an attempt can have.
constexpr auto kMostAttempts = std::numeric_limits<decltype(Job::attempt)>::max();

/// How an attempt that ran from `since` ended.
Ended judge(const JobExited& fact, Stopping stopping, Time since, Time now) {
  Ended ended{Outcome::Failed, EndReason::Exited, fact.exit_code, fact.signal, since, now};
  if (!fact.started) {
    ended.reason = EndReason::NotStarted;
    ended.started = kNever;
  } else if (stopping == Stopping::Cancelled) {
    ended.outcome = Outcome::Cancelled;
    ended.reason = EndReason::Cancelled;
  } else if (stopping == Stopping::TimeLimit) {
    ended.outcome = Outcome::TimedOut;
    ended.reason = EndReason::TimeLimit;
  } else if (stopping == Stopping::Profile) {
    ended.outcome = Outcome::Cancelled;
    ended.reason = EndReason::Profile;
  } else if (stopping == Stopping::Memory) {
    ended.outcome = Outcome::Oom;
    ended.reason = EndReason::Memory;
  } else if (fact.memory) {
    ended.outcome = Outcome::Oom;
  } else if (fact.exit_code == 0 && fact.signal == 0) {
    ended.outcome = Outcome::Succeeded;
  }
  return ended;
}

bool deserves_retry(const Job& job, const Ended& attempt) {
  const RareTraits& traits = job.traits();
  if (attempt.outcome == Outcome::Lost && traits.retry.when_lost) {
    return true;
  }
  if (job.attempt - traits.memory_retries > traits.retry.most) {
    return false;
  }
  switch (attempt.outcome) {
    case Outcome::Failed:
      return traits.retry.on_failure;
    case Outcome::TimedOut:
      return traits.retry.on_time_limit;
    case Outcome::Oom:
    case Outcome::Lost:
      return true;
    case Outcome::Succeeded:
    case Outcome::Cancelled:
      return false;
  }
  return false;
}

/// Whether a job that is being ended for this reason may run again.
bool comes_back(const Job& job, Stopping why) {
  const RetryRule& retry = job.traits().retry;
  return why == Stopping::Profile || why == Stopping::Memory ||
         (why == Stopping::TimeLimit && (retry.most > 0 || retry.when_lost));
}

/// Of a job that has devices.
Stopping stopping_of(const Job& job) {
  const auto* running = std::get_if<Running>(&job.state);
  return running != nullptr ? running->stopping : std::get<Starting>(job.state).stopping;
}

Duration retry_delay(const RetryRule& rule, int attempt) {
  constexpr int kMostDoublings = 16;
  const int doublings = std::min(attempt - 1, kMostDoublings);
  return std::min<Duration>(rule.backoff, kForever / (1 << kMostDoublings)) * (1 << doublings);
}

}  // namespace

Scheduler::Scheduler(std::unique_ptr<Policy> policy, Config config)
    : policy_(std::move(policy)), config_(config), devices_(config.limits) {
  queue_.mix().keep(config.placement == Placement::Fgd);
}

DeviceId Scheduler::add_device(DeviceSpec spec) {
  const DeviceId id = devices_.add(std::move(spec));
  queue_.mix().measure_by(devices_.largest_memory());
  return id;
}

// --- commands

Result<void> Scheduler::check_submission(const JobSpec& spec) const {
  if (spec.priority > kMostPriority || spec.priority < -kMostPriority) {
    return fail(ErrorCode::Usage,
                fmt::format("priority {} is beyond ±{}", spec.priority, kMostPriority));
  }
  if (spec.needs.mps != 0 && spec.needs.gpus != 1) {
    return fail(ErrorCode::Usage,
                fmt::format("a job through MPS runs on one GPU, not {}: each GPU has a control "
                            "daemon of its own, and a program can talk to one only (omit --mps)",
                            spec.needs.gpus));
  }
  if (!spec.needs.away()) {
    if (const auto problem = devices_.impossible(spec.needs)) {
      return fail(ErrorCode::Usage, *problem);
    }
    if (const auto problem = policy_->impossible(devices_, spec.needs)) {
      return fail(ErrorCode::Usage, *problem);
    }
  }
  for (const Dependency& dependency : spec.after) {
    if (jobs_.find(dependency.job) == nullptr) {
      return no_such_job(dependency.job);
    }
  }
  return {};
}

Result<JobId> Scheduler::apply(const Submit& command, Time now) {
  const JobSpec& spec = command.spec;
  if (command.count == 0) {
    return fail(ErrorCode::Usage, "an array needs at least one job");
  }
  const JobId first{command.id == JobId{} ? last_id_ + 1 : command.id.value};
  for (std::uint32_t i = 0; i < command.count; ++i) {
    if (const JobId id{first.value + i}; jobs_.find(id) != nullptr) {
      return fail(ErrorCode::Refused, fmt::format("job {} exists already", id.value));
    }
  }
  if (!command.checked) {
    if (const Result<void> checked = check_submission(spec); !checked) {
      return Failure(checked.error());
    }
  }
  for (std::uint32_t i = 0; i < command.count; ++i) {
    await_start(add_job(JobId{first.value + i}, spec, now), spec, now);
  }
  return first;
}

void Scheduler::apply(const Restore& command, Time now) {
  Job& job = add_job(command.id, command.spec, command.submitted);
  job.attempt = command.attempt;
  if (command.memory_retries > 0) {
    job.own_traits().memory_retries = command.memory_retries;
  }
  if (!command.running) {
    await_start(job, command.spec, now, command.standing ? command.standing->rank : std::nullopt);
    return;
  }
  const Stopping stopping =
      command.standing ? command.running->stopping : Stopping::No;  // else it is asked, below
  if (command.starting) {
    job.state = Starting{command.running->devices, command.running->since, stopping};
  } else {
    job.state = Running{command.running->devices, command.running->since, stopping};
    await_limit(job, command.running->since, now);
  }
  take_devices(job, command.running->devices, command.running->since);
  if (command.standing) {
    stand(job, *command.standing);
  } else if (command.running->stopping != Stopping::No) {
    // Whether it has heard of it nobody knows.
    ask_to_stop(job, command.running->stopping, now);
  }
}

Job& Scheduler::add_job(JobId id, const JobSpec& spec, Time submitted) {
  last_id_ = std::max(last_id_, id.value);
  Job& job = jobs_.insert(id, Job{});
  job.id = id;
  job.submitted = submitted;
  set_spec(job, spec);
  note_change(id);
  return job;
}

void Scheduler::set_spec(Job& job, const JobSpec& spec) {
  job.priority = spec.priority;
  job.expected = spec.expected;
  job.limit = spec.limit;
  job.owner = spec.owner;
  job.weight = std::max<std::uint16_t>(spec.weight, 1);
  set_needs(job, spec.needs);
  const bool rare = spec.retry.most > 0 || spec.retry.when_lost || spec.warn_before > Duration{};
  if (rare || job.rare != nullptr) {
    job.own_traits().retry = spec.retry;
    job.own_traits().warn_before = spec.warn_before;
  }
}

/// Of a job that is not in the queue: its place there hangs on them.
void Scheduler::set_needs(Job& job, const Needs& wanted) {
  job.shape = queue_.intern(wanted, policy_->by_owner() ? job.owner : OwnerId{});
}

/// The first state of a job that has no devices.
void Scheduler::await_start(Job& job, const JobSpec& spec, Time now, std::optional<Rank> rank) {
  ++waiting_;
  bool never = false;
  const Queued queued = count_unmet(spec, job.id, never);
  if (spec.held) {
    job.state = Held{queued};
  } else {
    job.state = queued;
    enter_queue(job, now, rank);
  }
  if (never) {
    finish(job, {Outcome::Cancelled, EndReason::Dependency, 0, 0, kNever, now});
  }
}

Result<void> Scheduler::apply(const Cancel& command, Time now) {
  Job* job = change(command.job);
  if (job == nullptr) {
    return no_such_job(command.job);
  }
  if (std::holds_alternative<Ended>(job->state)) {
    return fail(ErrorCode::Refused, fmt::format("job {} has already ended: {}", command.job.value,
                                                state_name(job->state)));
  }
  if (job->waiting()) {
    finish(*job, {Outcome::Cancelled, EndReason::Cancelled, 0, 0, kNever, now});
    settle_followers(*job, now);
  } else {
    ask_to_stop(*job, Stopping::Cancelled, now);
  }
  return {};
}

Result<void> Scheduler::apply(const Edit& command, Time now) {
  Job* job = change(command.job);
  if (job == nullptr) {
    return no_such_job(command.job);
  }
  if (!job->waiting()) {
    return fail(ErrorCode::Refused, fmt::format("job {} is {}: only a waiting job can be edited",
                                                command.job.value, state_name(job->state)));
  }
  JobSpec spec = command.spec;
  spec.after.clear();
  if (Result<void> checked = check_submission(spec); !checked) {
    return checked;
  }
  if (auto* held = std::get_if<Held>(&job->state)) {
    set_spec(*job, spec);
    held->then.not_before = spec.begin;
    return {};
  }
  leave_queue(*job);
  set_spec(*job, spec);
  std::get<Queued>(job->state).not_before = spec.begin;
  enter_queue(*job, now);
  return {};
}

Result<void> Scheduler::apply(const Hold& command, Time) {
  Job* job = change(command.job);
  if (job == nullptr) {
    return no_such_job(command.job);
  }
  if (const auto* queued = std::get_if<Queued>(&job->state)) {
    const Queued then = *queued;
    leave_queue(*job);
    job->state = Held{then};
    return {};
  }
  return fail(ErrorCode::Refused, fmt::format("job {} is {}: only a queued job can be held",
                                              command.job.value, state_name(job->state)));
}

Result<void> Scheduler::apply(const Release& command, Time now) {
  Job* job = change(command.job);
  if (job == nullptr) {
    return no_such_job(command.job);
  }
  if (const auto* held = std::get_if<Held>(&job->state)) {
    job->state = Queued(held->then);
    enter_queue(*job, now);
    return {};
  }
  return fail(ErrorCode::Refused,
              fmt::format("job {} is {}, not held", command.job.value, state_name(job->state)));
}

// --- facts

void Scheduler::apply(const JobStarted& fact, Time now) {
  Job* job = change(fact.job);
  BERTH_CHECK(job != nullptr);
  auto* starting = std::get_if<Starting>(&job->state);
  BERTH_CHECK(starting != nullptr);
  Running running{std::move(starting->devices), now, starting->stopping};
  const bool stopping = running.stopping != Stopping::No;
  job->state = std::move(running);
  if (!stopping) {
    await_limit(*job, now, now);
  }
}

void Scheduler::apply(const JobExited& fact, Time now) {
  Job* job = change(fact.job);
  BERTH_CHECK(job != nullptr);
  // A process may be gone before anyone could say that it had started.
  if (const auto* starting = std::get_if<Starting>(&job->state)) {
    end_attempt(*job, judge(fact, starting->stopping, starting->since, now), fact.memory, now);
  } else {
    const auto* running = std::get_if<Running>(&job->state);
    BERTH_CHECK(running != nullptr);
    end_attempt(*job, judge(fact, running->stopping, running->since, now), fact.memory, now);
  }
}

void Scheduler::apply(const JobPreempted& fact, Time now) {
  Job* job = change(fact.job);
  BERTH_CHECK(job != nullptr);
  const auto* running = std::get_if<Running>(&job->state);
  BERTH_CHECK(running != nullptr && running->stopping == Stopping::Preempted);
  const Duration ran = now - running->since;
  release_devices(*job, now);
  job->own_traits().done += ran;
  ++waiting_;
  --job->attempt;
  job->state = Queued{};
  set_timer(*job, kNever);
  enter_queue(*job, now);
}

void Scheduler::apply(const JobLost& fact, Time now) {
  Job* job = change(fact.job);
  BERTH_CHECK(job != nullptr && job->lease() != nullptr);
  const auto* running = std::get_if<Running>(&job->state);
  const Time since = running != nullptr ? running->since : std::get<Starting>(job->state).since;
  end_attempt(*job, {Outcome::Lost, EndReason::Lost, 0, 0, since, now}, std::nullopt, now);
}

void Scheduler::apply(const StartRefused& fact, Time now) {
  Job* job = change(fact.job);
  BERTH_CHECK(job != nullptr);
  const auto* starting = std::get_if<Starting>(&job->state);
  BERTH_CHECK(starting != nullptr);
  const bool cancelled = starting->stopping != Stopping::No;
  release_devices(*job, now);
  for (const DeviceId device : fact.taken) {
    devices_.set_taken(device, true);
  }
  ++waiting_;
  --job->attempt;
  job->state = Queued{};
  set_timer(*job, kNever);
  if (cancelled) {
    finish(*job, {Outcome::Cancelled, EndReason::Cancelled, 0, 0, kNever, now});
    settle_followers(*job, now);
  } else {
    enter_queue(*job, now);
  }
}

// --- transitions

/// A job in state Queued starts to compete, or to wait for the time when it may. `rank`: where it
/// stood before.
void Scheduler::enter_queue(Job& job, Time now, std::optional<Rank> rank) {
  const Queued& queued = std::get<Queued>(job.state);
  if (queued.not_before > now) {
    set_timer(job, queued.not_before);
  } else if (queued.unmet == 0) {
    set_timer(job, kNever);
    if (needs(job).away()) {
      away_.insert(job.id);
      return;
    }
    job.rank = rank ? *rank : policy_->rank(job, needs(job));
    queue_.insert(job);
    policy_->joined(job, needs(job));
  }
}

void Scheduler::leave_queue(Job& job) {
  set_timer(job, kNever);
  away_.erase(job.id);
  if (queue_.contains(job)) {
    queue_.erase(job);
    policy_->left(job, needs(job));
  }
}

void Scheduler::ask_to_stop(Job& job, Stopping why, Time now) {
  Stopping& stopping = std::holds_alternative<Starting>(job.state)
                           ? std::get<Starting>(job.state).stopping
                           : std::get<Running>(job.state).stopping;
  if (stopping == Stopping::No || stopping == Stopping::Preempted) {
    stopping = why;
    pending_.push_back(StopJob{job.id, StopJob::How::Ask});
    set_timer(job, add_saturating(now, config_.grace));
  } else {
    if (why == Stopping::Cancelled && comes_back(job, stopping)) {
      stopping = why;
    }
    pending_.push_back(StopJob{job.id, StopJob::How::Force});
    set_timer(job, kNever);
  }
}

void Scheduler::release_devices(Job& job, Time now) {
  running_.erase(job.id);
  if (needs(job).away()) {
    return;
  }
  devices_.release(job.id, *job.lease());
  queue_.mix().remove(needs(job));
  policy_->stopped(job, needs(job), now);
}

void Scheduler::end_attempt(Job& job, const Ended& attempt, const std::optional<MemoryEnd>& memory,
                            Time now) {
  release_devices(job, now);
  const MemoryEnd seen = memory.value_or(MemoryEnd{});
  // Somebody wants it gone, however this attempt has ended.
  const bool cancelled = stopping_of(job) == Stopping::Cancelled;
  if (job.attempt == kMostAttempts) {
    // Whatever it deserves, there is no number left for another one.
    finish(job, attempt);
    settle_followers(job, now);
  } else if (attempt.reason == EndReason::Profile) {
    claim_profiled(job, seen.wanted);
    ++job.own_traits().memory_retries;
    requeue(job, attempt, now, now);
  } else if (attempt.outcome == Outcome::Oom && make_room(job, seen)) {
    ++job.own_traits().memory_retries;
    requeue(job, attempt, now, now);
  } else if (!cancelled && deserves_retry(job, attempt)) {
    const int tries = job.attempt - job.traits().memory_retries;
    requeue(job, attempt, add_saturating(now, retry_delay(job.traits().retry, tries)), now);
  } else {
    finish(job, attempt);
    settle_followers(job, now);
  }
}

void Scheduler::requeue(Job& job, const Ended& attempt, Time not_before, Time now) {
  pending_.push_back(JobRequeued{job.id, job.attempt, attempt, not_before});
  if (job.rare != nullptr) {
    job.rare->done = {};
  }
  ++waiting_;
  job.state = Queued{not_before, 0};
  set_timer(job, kNever);
  enter_queue(job, now);
}

/// The final state. Those that follow the job are settled by the caller.
void Scheduler::finish(Job& job, const Ended& ended) {
  if (job.waiting()) {
    leave_queue(job);
    stop_following(job);
    --waiting_;
  }
  set_timer(job, kNever);
  job.state = ended;
  pending_.push_back(JobEnded{job.id});
}

void Scheduler::forget(JobId id) {
  const Job* job = jobs_.find(id);
  BERTH_CHECK(job != nullptr && std::holds_alternative<Ended>(job->state));
  jobs_.erase(id);
  note_change(id);
}

}  // namespace berth
