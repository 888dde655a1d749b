#include "sim/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"
#include "sim/arrivals.h"
#include "sim/device_faults.h"
#include "sim/foresight.h"
#include "sim/meters.h"
#include "sim/progress.h"

namespace berth {

double time_sliced(std::size_t sharers) { return 1.0 / static_cast<double>(sharers); }
double undisturbed(std::size_t) { return 1; }

Duration slowest_resumption(const Workload& workload, const Machine& machine,
                            const SimOptions& options) {
  double speed = 1;
  Bytes memory;
  for (const SimDevice& device : machine) {
    speed = std::min(speed, device.speed);
    memory = std::max(memory, device.spec.memory);
  }
  std::int64_t sharers = 1;
  for (const SimJob& job : workload.jobs) {
    const std::int64_t by_share = job.share == 0 ? kWholeShare : kWholeShare / job.share;
    const std::int64_t by_memory =
        job.memory_mib == 0 ? kWholeShare : memory.count / mebibytes(job.memory_mib).count;
    const bool shares = job.share != 0 || job.memory_mib != 0;
    sharers = std::max(sharers, shares ? std::min(by_share, by_memory) : 1);
  }
  const double pace = speed * options.sharing(static_cast<std::size_t>(sharers));
  const double seconds = to_seconds(options.preemption_cost) / std::max(pace, 1e-6);
  return std::min(options.preemption_cost, kForever) == kForever
             ? kForever
             : std::chrono::ceil<Duration>(std::chrono::duration<double>(seconds));
}

namespace {

/// Decisions in a row after which nobody has got anything done: it will go on like that.
constexpr std::uint64_t kMostFruitless = 100'000;

Scheduler::Config config_of(const SimOptions& options) {
  Scheduler::Config config;
  config.placement = options.placement;
  config.limits.buffer = options.buffer;
  return config;
}

/// The loop: tells the scheduler what happens next, carries out what it decides, and tells the
/// other parts of both.
class Simulation {
 public:
  Simulation(const Workload& workload, const std::vector<Duration>& expected,
             const Machine& machine, std::unique_ptr<Policy> policy, const SimOptions& options)
      : jobs_(workload.jobs),
        machine_(machine),
        options_(options),
        scheduler_(std::move(policy), config_of(options)),
        arrivals_(jobs_, expected, options.faults.between != kForever),
        progress_(jobs_),
        faults_(options.faults),
        meters_(jobs_, machine, options.timeline) {
    for (const SimDevice& device : machine) {
      scheduler_.add_device(device.spec);
    }
  }

  Result<SimRun> run() {
    if (!jobs_.empty()) {
      now_ = jobs_.front().submit;
    }
    faults_.begin(machine_.size(), now_);
    for (Time next = next_event(); next != kNever; next = next_event()) {
      BERTH_CHECK(next >= now_);
      meters_.pass_time(now_, next);
      now_ = next;
      const std::uint64_t before = meters_.events();
      if (Result<void> taken = options_.one_by_one ? take_one() : take_all(); !taken) {
        return Failure(taken.error());
      }
      if (meters_.events() == before) {
        meters_.count_event();
      }
      if (!decide()) {
        return gets_nowhere();
      }
    }
    return scheduler_.waiting() > 0 ? Result<SimRun>(waits_for_ever()) : meters_.take();
  }

 private:
  Failure gets_nowhere() const {
    return fail(
        ErrorCode::Refused,
        fmt::format("policy {} gets nowhere: in {} decisions on end no job has ended or got "
                    "anything done{}",
                    scheduler_.policy().name(), kMostFruitless,
                    meters_.preemptions() == 0
                        ? ""
                        : ". Jobs lose more by a preemption than they do in a turn: choose a "
                          "smaller --preemption-cost, or a longer --slice"));
  }

  Failure waits_for_ever() const {
    const std::string why(scheduler_.refusal());
    return fail(
        ErrorCode::Refused,
        fmt::format(
            "policy {} leaves {} waiting forever: {}", scheduler_.policy().name(),
            scheduler_.waiting() == 1 ? "1 job" : fmt::format("{} jobs", scheduler_.waiting()),
            why.empty() ? "too much for these devices or its budget" : why));
  }

  Time next_event() {
    const Time next =
        std::min({scheduler_.wake_at(), arrivals_.next(), progress_.next_end(), faults_.next()});
    // What else could happen is no event once there is nothing left to decide.
    const bool is_over = arrivals_.is_over() && progress_.none_runs() && scheduler_.waiting() == 0;
    return is_over ? kNever : next;
  }

  Result<void> take_all() {
    if (Result<void> taken = take_faults(); !taken) {
      return taken;
    }
    while (progress_.is_due(now_)) {
      take_end();
    }
    while (arrivals_.is_due(now_)) {
      if (Result<void> taken = submit(); !taken) {
        return taken;
      }
    }
    return {};
  }

  Result<void> take_one() {
    if (Result<void> taken = take_faults(); !taken) {
      return taken;
    }
    if (arrivals_.is_due(now_)) {
      return submit();
    }
    if (progress_.is_due(now_)) {
      take_end();
    }
    return {};
  }

  Result<void> submit() {
    meters_.count_event();
    fruitless_ = 0;
    const Submit& next = arrivals_.take();
    const Result<JobId> taken = options_.foresight == nullptr
                                    ? scheduler_.apply(next, now_)
                                    : submit_foreseen(next, *options_.foresight);
    return taken ? Result<void>{} : Failure(taken.error());
  }

  /// With the length that such jobs had before.
  Result<JobId> submit_foreseen(Submit next, Foresight& foresight) {
    const std::uint32_t job = job_of(next.id);
    next.spec.expected = foresight.expected(job);
    Result<JobId> taken = scheduler_.apply(next, now_);
    if (taken) {
      foresight.waits(job, scheduler_);
    }
    return taken;
  }

  Result<void> take_faults() {
    while (faults_.is_due(now_)) {
      const DeviceFaults::Fault fault = faults_.take(now_);
      fruitless_ -= fruitless_ > 0 ? 1 : 0;  // no decision of the policy's
      scheduler_.apply(
          DeviceChanged{fault.device, fault.fails ? DeviceHealth::Lost : DeviceHealth::Ok});
      if (!fault.fails) {
        continue;
      }
      meters_.count_failure();
      const std::vector<DeviceLease> leases = scheduler_.devices()[fault.device].leases;
      for (const DeviceLease& lease : leases) {
        if (Result<void> lost = lose(job_of(lease.job)); !lost) {
          return lost;
        }
      }
    }
    return {};
  }

  /// The job's work is gone; it waits to begin again.
  Result<void> lose(std::uint32_t job) {
    constexpr std::uint32_t kMostLosses = 10'000;
    if (meters_.lost(job) > kMostLosses) {
      return fail(ErrorCode::Refused,
                  fmt::format("job {} was lost {} times: devices fail too often for it to end",
                              job + 1, kMostLosses));
    }
    leave_devices(job);
    meters_.waste(job, progress_.lose(job, now_));
    fruitless_ = 0;  // another count ends this
    const std::vector<DeviceId> devices = *lease_of(job);
    scheduler_.apply(JobLost{id_of(job)}, now_);
    adjust_speeds(devices);
    return {};
  }

  void take_end() {
    const std::optional<std::uint32_t> job = progress_.take_end();
    if (!job) {
      return;
    }
    meters_.count_event();
    fruitless_ = 0;
    if (options_.foresight != nullptr) {
      options_.foresight->ended(
          *job, now_ - std::get<Running>(scheduler_.find(id_of(*job))->state).since);
    }
    leave_devices(*job);
    meters_.ended(*job, now_);
    const bool shared = neighbours_matter(*job);
    const std::vector<DeviceId> devices = shared ? *lease_of(*job) : std::vector<DeviceId>{};
    scheduler_.apply(JobExited{id_of(*job)}, now_);
    adjust_speeds(devices);
  }

  /// False when decisions get nowhere.
  bool decide() {
    if (options_.foresight != nullptr) {
      for (const Reestimate& change : options_.foresight->changes(scheduler_)) {
        scheduler_.apply(change);
      }
    }
    if (!carry_out_decisions()) {
      return false;
    }
    if (options_.foresight != nullptr) {
      options_.foresight->look(scheduler_, now_);
    }
    return true;
  }

  bool carry_out_decisions() {
    bool again = true;
    while (again) {
      if (++fruitless_ > kMostFruitless) {
        return false;
      }
      again = false;
      for (const Action& action : scheduler_.step(now_)) {
        if (const auto* start = std::get_if<StartJob>(&action)) {
          begin(*start);
        } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
          scheduler_.forget(ended->job);
        } else if (const auto* preempt = std::get_if<PreemptJob>(&action)) {
          put_back(job_of(preempt->job));
          again = true;
        }
      }
    }
    return true;
  }

  void begin(const StartJob& start) {
    const std::uint32_t job = job_of(start.job);
    if (options_.foresight != nullptr) {
      options_.foresight->started(job, now_);
    }
    if (meters_.started(job, now_)) {
      fruitless_ = 0;
    } else if (!progress_.is_whole(job)) {
      progress_.add(job, options_.preemption_cost);
      meters_.waste(job, options_.preemption_cost);
    }
    // The meters cannot go by the scheduler's leases: those are all there before the first start is
    // carried out.
    meters_.enter(start.devices, now_);
    scheduler_.apply(JobStarted{start.job}, now_);
    progress_.run(job, speed_on(start.devices), now_);
    if (neighbours_matter(job)) {
      adjust_speeds(start.devices);
    }
  }

  void put_back(std::uint32_t job) {
    meters_.preempted(job);
    leave_devices(job);
    if (progress_.pause(job, now_)) {
      fruitless_ = 0;
    }
    const std::vector<DeviceId> devices = *lease_of(job);
    scheduler_.apply(JobPreempted{id_of(job)}, now_);
    adjust_speeds(devices);
  }

  const std::vector<DeviceId>* lease_of(std::uint32_t job) const {
    return scheduler_.find(id_of(job))->lease();
  }

  /// The job's stay ends now; the lease is still there.
  void leave_devices(std::uint32_t job) {
    const Time since = std::get<Running>(scheduler_.find(id_of(job))->state).since;
    meters_.leave(job, *lease_of(job), since, now_);
  }

  bool neighbours_matter(std::uint32_t job) const {
    return options_.sharing != undisturbed && (jobs_[job].share != 0 || jobs_[job].memory_mib != 0);
  }

  /// Several devices go at the pace of the slowest.
  float speed_on(const std::vector<DeviceId>& devices) const {
    double speed = devices.empty() ? 1 : machine_[devices[0].value].speed;
    for (const DeviceId device : devices) {
      const std::size_t sharers = scheduler_.devices()[device].leases.size();
      speed = std::min(speed, machine_[device.value].speed * options_.sharing(sharers));
    }
    return static_cast<float>(speed);
  }

  /// Somebody has come or gone: the others on these devices go on at another speed.
  void adjust_speeds(const std::vector<DeviceId>& devices) {
    if (options_.sharing == undisturbed) {
      return;
    }
    for (const DeviceId device : devices) {
      for (const DeviceLease& lease : scheduler_.devices()[device].leases) {
        if (!std::holds_alternative<Running>(scheduler_.find(lease.job)->state)) {
          continue;  // its own start comes next, and looks at all of them
        }
        const std::uint32_t job = job_of(lease.job);
        progress_.set_speed(job, speed_on(*lease_of(job)), now_);
      }
    }
  }

  const std::vector<SimJob>& jobs_;
  const Machine& machine_;
  const SimOptions& options_;
  Scheduler scheduler_;
  Arrivals arrivals_;
  Progress progress_;
  DeviceFaults faults_;
  Meters meters_;
  Time now_{};
  std::uint64_t fruitless_ = 0;  // decisions since a job arrived, ended or got something done
};

}  // namespace

Result<SimRun> simulate(const Workload& workload, const std::vector<Duration>& expected,
                        const Machine& machine, std::unique_ptr<Policy> policy,
                        const SimOptions& options) {
  return Simulation(workload, expected, machine, std::move(policy), options).run();
}

}  // namespace berth
