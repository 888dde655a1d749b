// Scheduler: the state machine that decides everything. Commands (which may be refused) and facts
// (which may not) go in with the time at which they happened; step() asks the policy and returns
// what the driver must do. The scheduler is a plain value-in, value-out object owned by one thread:
// no clock, I/O, threads or randomness. The daemon, `berth run` and the simulator are drivers of
// this one class.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/id_table.h"
#include "base/result.h"
#include "core/checkpoint.h"
#include "core/device_table.h"
#include "core/explain.h"
#include "core/job.h"
#include "core/out_of_memory.h"
#include "core/policy.h"
#include "core/queue.h"

namespace berth {

// --- inputs

struct Submit {
  JobSpec spec;
  JobId id{};               // of the (first) job, never used before; 0: the next
  std::uint32_t count = 1;  // an array: this many jobs that share the needs, with consecutive ids
  bool checked = false;     // by check_submission(), earlier: the job is not refused for that again
};
/// A job that an earlier process knew: it continues where it was. Never refused.
struct Restore {
  JobId id;
  JobSpec spec;
  Time submitted;
  std::uint16_t attempt = 0;
  std::optional<Running> running;  // on devices that this process has
  bool starting = false;           // has devices, but no process yet
  std::uint8_t memory_retries = 0;
  std::optional<Standing> standing = {};  // from a checkpoint: nothing is asked again
};
struct Cancel {
  JobId job;
};
/// Changes what a waiting job asks for: everything but `held` and `after`, which stay.
struct Edit {
  JobId job;
  JobSpec spec;
};
struct Hold {
  JobId job;
};
struct Release {
  JobId job;
};
/// A waiting job claims `memory` from here on: the memory use of its recipe is better known now.
struct Reclaim {
  JobId job;
  Bytes memory;
};
/// A waiting job is expected to run this long from here on: its recipe is better known now.
struct Reestimate {
  JobId job;
  Duration expected;
};
/// Starts nothing more until Resume.
struct Pause {};
struct Resume {};

struct JobStarted {
  JobId job;
};
/// An attempt is over. With `started` false the command could not even be run.
struct JobExited {
  JobId job;
  int exit_code = 0;
  int signal = 0;
  bool started = true;
  std::optional<MemoryEnd> memory = {};  // it failed for lack of GPU memory
};
/// A job has left its devices as PreemptJob asked, and its work is kept.
struct JobPreempted {
  JobId job;
};
/// An attempt is over, and how it ended cannot be known.
struct JobLost {
  JobId job;
};
struct DeviceChanged {
  DeviceId device;
  DeviceHealth health = DeviceHealth::Ok;
};
struct ForeignUse {
  DeviceId device;
  Bytes memory;
};
/// The memory that a job uses on a device: reported while it exceeds the claim, and once when it no
/// longer does.
struct JobUse {
  JobId job;
  DeviceId device;
  Bytes memory;
};
/// Another berth instance, of this user or another, has leased a device on which this instance has
/// no lease, or has given the device back.
struct DeviceTaken {
  DeviceId device;
  bool taken = true;
};
/// A start was not carried out because another berth instance has these devices of the job. The
/// attempt never existed: the job keeps waiting where it stood, and the attempt's number is used
/// again.
struct StartRefused {
  JobId job;
  std::vector<DeviceId> taken;
};

// --- what the driver must do

struct StartJob {
  JobId job;
  std::uint16_t attempt;
  std::vector<DeviceId> devices;
};
/// End the whole process tree: ask first (TERM), then, when the grace is over, Force (KILL).
struct StopJob {
  enum class How : std::uint8_t { Ask, Force };
  JobId job;
  How how;
};
/// Take the job off its devices and keep its work; it goes on later, as the same attempt.
struct PreemptJob {
  JobId job;
};
/// The job's time is nearly over: send it the signal that it asked for.
struct WarnJob {
  JobId job;
};
/// The job has reached its final state. It stays readable until forget().
struct JobEnded {
  JobId job;
};
/// An attempt has failed and the job goes back to the queue.
struct JobRequeued {
  JobId job;
  std::uint16_t number;  // of the attempt; the job itself may be at the next one already
  Ended attempt;
  Time not_before;
};

using Action = std::variant<StartJob, StopJob, WarnJob, JobEnded, JobRequeued, PreemptJob>;

class Forecast;

class Scheduler {
 public:
  struct Config {
    Placement placement = kUsualPlacement;
    DeviceTable::Limits limits;
    Duration grace = std::chrono::seconds(10);  // between Ask and Force
    bool enforce_claims = false;  // ends a job that exceeds its claim beside other jobs
  };

  Scheduler(std::unique_ptr<Policy> policy, Config config);

  DeviceId add_device(DeviceSpec spec);

  /// Why such a job would be refused.
  Result<void> check_submission(const JobSpec& spec) const;
  /// The id of the (first) job.
  Result<JobId> apply(const Submit& command, Time now);
  void apply(const Restore& command, Time now);
  Result<void> apply(const Cancel& command, Time now);
  Result<void> apply(const Edit& command, Time now);
  /// Ignored if the job no longer waits.
  void apply(const Reclaim& command);
  void apply(const Reestimate& command);  // likewise (scheduler_lengths.cc)
  Result<void> apply(const Hold& command, Time now);
  Result<void> apply(const Release& command, Time now);
  /// From here on, another policy decides, with another placement. Running jobs go on.
  void set_policy(std::unique_ptr<Policy> policy, Placement placement);
  void apply(const Pause&) { paused_ = true; }
  void apply(const Resume&) { paused_ = false; }

  void apply(const JobStarted& fact, Time now);
  void apply(const JobExited& fact, Time now);
  void apply(const JobPreempted& fact, Time now);
  void apply(const JobLost& fact, Time now);
  void apply(const DeviceChanged& fact) { devices_.set_health(fact.device, fact.health); }
  void apply(const ForeignUse& fact) { devices_.set_foreign(fact.device, fact.memory); }
  void apply(const JobUse& fact, Time now);
  void apply(const DeviceTaken& fact) { devices_.set_taken(fact.device, fact.taken); }
  void apply(const StartRefused& fact, Time now);

  /// Decides. The returned actions are valid until the next call. If one end releases or ends very
  /// many jobs, or the time of very many jobs has come, a step handles some of them, and wake_at()
  /// asks for the next step at once: a step is short, however long the queue.
  const std::vector<Action>& step(Time now);

  /// When step() must be called next even if nothing happens; kNever: no need.
  Time wake_at() const;

  /// Drops an ended job.
  void forget(JobId job);

  const Job* find(JobId job) const { return jobs_.find(job); }
  const Needs& needs(const Job& job) const { return queue_.needs(job.shape); }
  const DeviceTable& devices() const { return devices_; }
  const Queue& queue() const { return queue_; }
  const Policy& policy() const { return *policy_; }
  Placement placement() const { return config_.placement; }
  const Config& config() const { return config_; }
  bool paused() const { return paused_; }
  std::size_t waiting() const { return waiting_; }
  const std::set<JobId>& running() const { return running_; }

  // Checkpoints, see checkpoint.h (scheduler_checkpoint.cc).

  /// Whether nothing is under way that a checkpoint would not carry: no action that step() has yet
  /// to return, no ended job that is still here, no timer that is due.
  bool at_rest(Time now) const;
  /// Visits up to `most` jobs with ids from `from` on, in order. Returns the id to continue from;
  /// nothing when no jobs are left.
  template <class Visit>
  std::optional<JobId> visit_jobs(JobId from, std::size_t most, Visit visit) const {
    return jobs_.visit_some(from, most, visit);
  }
  /// Everything there is to know about a job that has not ended.
  Restore as_it_stands(const Job& job) const;
  SchedulerBooks close_books();
  /// The last input of a scheduler from a checkpoint. An error when the books make no sense.
  Result<void> apply(const SchedulerBooks& books);
  /// From here on, changed jobs are added to `changes`; nullptr: no longer.
  void watch(JobChanges* changes) { changes_ = changes; }

  /// How many jobs compete for devices in front of this one; counts no further than `most`.
  std::size_t ahead_of(const Job& job, std::size_t most) const;

  /// When and where waiting jobs are expected to run; see forecast.h. `policy` is a fresh one of
  /// the same kind. Jobs run as long as they are expected to, or as their limit lets them, or, if
  /// neither is known, for `guess`, so that no job depends on one that never ends. The forecast
  /// follows the first `most` jobs in order, as many jobs that wait for a time, and as many that
  /// wait for any of these.
  Forecast forecast(std::unique_ptr<Policy> policy, Duration guess, std::size_t most,
                    Time now) const;

  /// Why this waiting job has not started.
  Explanation explain(JobId job, Time now) const;
  /// The devices that the policy keeps free for a waiting job; nothing if it keeps none.
  std::optional<Reservation> reservation(Time now) const;

  /// For tests: the first broken invariant in words, empty when all hold. Visits every job.
  std::string broken_invariant(Time now) const;

  /// Why the policy's last refused proposal was refused; empty: none ever was.
  const std::string& refusal() const { return refusal_; }

 private:
  class CurrentView;
  struct Follower {
    JobId job;
    Dependency::When when;
    bool gone = false;  // it no longer waits
  };
  /// An ended job, and its followers that have not learned of its end yet.
  struct Settling {
    Outcome outcome;
    std::vector<Follower> followers;
    std::size_t heard = 0;  // followers that have learned of it
  };

  // The life of a job (scheduler.cc).
  Job* change(JobId id);
  void note_change(JobId id);
  Queued count_unmet(const JobSpec& spec, JobId id, bool& never);
  Job& add_job(JobId id, const JobSpec& spec, Time submitted);
  void set_spec(Job& job, const JobSpec& spec);
  void set_needs(Job& job, const Needs& wanted);
  void await_start(Job& job, const JobSpec& spec, Time now, std::optional<Rank> rank = {});
  void enter_queue(Job& job, Time now, std::optional<Rank> rank = {});
  void leave_queue(Job& job);
  void ask_to_stop(Job& job, Stopping why, Time now);
  void release_devices(Job& job, Time now);
  void end_attempt(Job& job, const Ended& attempt, const std::optional<MemoryEnd>& memory,
                   Time now);
  void stand(Job& job, const Standing& standing);
  bool make_room(Job& job, const MemoryEnd& end);
  bool profiles(const Job& job) const;
  void claim_profiled(Job& job, Bytes peak);
  void requeue(Job& job, const Ended& attempt, Time not_before, Time now);
  void finish(Job& job, const Ended& ended);
  void stop_following(const Job& job);
  std::vector<Dependency> unmet_of(const Job& job) const;
  void settle_followers(const Job& ended, Time now);
  void await_settling(const Job& ended);
  void settle_some(Time now);
  void settle(const Follower& follower, Outcome outcome, Time now);
  void set_timer(Job& job, Time when);
  void await_limit(Job& job, Time since, Time now);
  void on_timer(Job& job, Time now);

  // Decisions (decide.cc).
  void start_jobs(Time now);
  void ask_to_preempt(JobId id);
  std::string why_invalid(const Proposal& proposal) const;
  void start(const Proposal& proposal, Time now);

  // Jobs for clusters (scheduler_away.cc).
  void start_away(Time now);
  void take_devices(Job& job, const std::vector<DeviceId>& devices, Time since);
  bool is_ready(const Job& job) const;

  void copy_running(Scheduler& copy, Time now) const;
  void copy_waiting(Scheduler& copy, std::size_t most, Time now) const;

  std::unique_ptr<Policy> policy_;
  Config config_;
  DeviceTable devices_;
  Queue queue_;
  IdTable<Job> jobs_;
  /// By the job that they wait for; the followers of one job are in order of id.
  std::map<JobId, std::vector<Follower>> followers_;
  std::deque<Settling> settling_;
  std::size_t settled_ = 0;  // followers told since the last step
  Time settled_at_{};
  std::set<std::pair<Time, JobId>> timers_;
  std::vector<Action> pending_;  // decided between two steps
  std::vector<Action> returned_;
  std::string refusal_;
  std::uint64_t last_id_ = 0;
  std::size_t waiting_ = 0;
  std::set<JobId> running_;  // jobs with devices, including starting ones, and those on clusters
  std::set<JobId> away_;     // jobs for clusters whose time has come
  Time policy_wake_ = kNever;
  JobChanges* changes_ = nullptr;
  bool paused_ = false;
};

}  // namespace berth
