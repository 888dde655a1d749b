#include "sim/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/check.h"
#include "core/scheduler.h"
#include "sim/distributions.h"

namespace berth {

double time_sliced(std::size_t sharers) { return 1.0 / static_cast<double>(sharers); }
double undisturbed(std::size_t) { return 1; }

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
/// Decisions in a row after which nobody has got anything done: it will go on like that.
constexpr std::uint64_t kMostFruitless = 100'000;

Scheduler::Config config_of(const SimOptions& options) {
  Scheduler::Config config;
  config.placement = options.placement;
  config.limits.buffer = options.buffer;
  return config;
}

class Simulation {
 public:
  Simulation(const Workload& workload, const std::vector<Duration>& expected,
             const Machine& machine, std::unique_ptr<Policy> policy, const SimOptions& options)
      : jobs_(workload.jobs),
        expected_(expected),
        machine_(machine),
        options_(options),
        scheduler_(std::move(policy), config_of(options)),
        busy_(machine.size()),
        random_(options.faults.seed ^ 0x6661756cULL) {
    for (const SimDevice& device : machine) {
      scheduler_.add_device(device.spec);
      power_ += device.spec.power.idle;
    }
    run_.peak_power_w = power_;
    run_.outcomes.resize(jobs_.size());
    work_.resize(jobs_.size());
    submit_.spec.retry.when_lost = options.faults.between != kForever;
  }

  Result<SimRun> run() {
    if (!jobs_.empty()) {
      now_ = jobs_.front().submit;
    }
    for (const SimJob& job : jobs_) {
      run_.first_submit = std::min(run_.first_submit, std::max(job.submit, job.begin));
    }
    if (options_.faults.between != kForever) {
      for (std::uint32_t i = 0; i < machine_.size(); ++i) {
        faults_.push({now_ + time_to_failure(), DeviceId{i}, true});
      }
    }
    for (Time next = next_event(); next != kNever; next = next_event()) {
      pass_time(next);
      const std::uint64_t before = run_.events;
      if (Result<void> taken = options_.one_by_one ? take_one() : take_all(); !taken) {
        return Failure(taken.error());
      }
      run_.events += run_.events == before ? 1 : 0;
      if (!decide()) {
        return gets_nowhere();
      }
    }
    if (scheduler_.waiting() > 0) {
      const std::string why(scheduler_.refusal());
      return fail(
          ErrorCode::Refused,
          fmt::format(
              "policy {} leaves {} waiting for ever: {}", scheduler_.policy().name(),
              scheduler_.waiting() == 1 ? "1 job" : fmt::format("{} jobs", scheduler_.waiting()),
              why.empty() ? "too much for these devices or its budget" : why));
    }
    return std::move(run_);
  }

 private:
  /// What is left to do of a job that runs, and how fast it gets done.
  struct Work {
    Duration left{};   // at `since`, at speed 1
    Duration least{};  // that it has been
    Time since;
    float speed = 1;
    std::uint32_t turn = 0;  // tells ends that were called off from those that count
  };
  struct Busy {
    std::uint32_t jobs = 0;
    Time since;
  };
  struct End {
    Time when;
    std::uint32_t job;
    std::uint32_t turn;

    bool operator>(const End& other) const {
      return std::pair(when, job) > std::pair(other.when, other.job);
    }
  };

  struct Fault {
    Time when;
    DeviceId device;
    bool fails;  // or is repaired

    bool operator>(const Fault& other) const {
      return std::pair(when, device) > std::pair(other.when, other.device);
    }
  };

  Failure gets_nowhere() const {
    return fail(
        ErrorCode::Refused,
        fmt::format("policy {} gets nowhere: in {} decisions on end no job has ended or got "
                    "anything done{}",
                    scheduler_.policy().name(), kMostFruitless,
                    run_.preemptions == 0
                        ? ""
                        : ". Jobs lose more by a preemption than they do in a turn: choose a "
                          "smaller --preemption-cost, or a longer --slice"));
  }

  static JobId id_of(std::size_t job) { return JobId{job + 1}; }
  static std::uint32_t job_of(JobId id) { return static_cast<std::uint32_t>(id.value - 1); }

  Time next_event() {
    while (!ends_.empty() && ends_.top().turn != work_[ends_.top().job].turn) {
      ends_.pop();
    }
    Time next = scheduler_.wake_at();
    if (arrived_ < jobs_.size()) {
      next = std::min(next, jobs_[arrived_].submit);
    }
    if (!ends_.empty()) {
      next = std::min(next, ends_.top().when);
    }
    if (!faults_.empty()) {
      next = std::min(next, faults_.top().when);
    }
    // What else could happen is no event once there is nothing left to decide.
    return arrived_ == jobs_.size() && ends_.empty() && scheduler_.waiting() == 0 ? kNever : next;
  }

  void pass_time(Time next) {
    BERTH_CHECK(next >= now_);
    run_.energy_j +=
        power_ * to_seconds(std::max(next, run_.first_submit) - std::max(now_, run_.first_submit));
    now_ = next;
  }

  Result<void> submit(std::size_t job) {
    const SimJob& from = jobs_[job];
    submit_.id = id_of(job);
    submit_.spec.needs = needs_of(from);
    submit_.spec.expected = expected_[job];
    submit_.spec.priority = from.priority;
    submit_.spec.owner = OwnerId{from.owner};
    submit_.spec.weight = from.weight;
    submit_.spec.begin = from.begin;
    work_[job].left = work_[job].least = from.duration;
    ++run_.events;
    fruitless_ = 0;
    const Result<JobId> taken = scheduler_.apply(submit_, now_);
    return taken ? Result<void>{} : Failure(taken.error());
  }

  bool arrives() const { return arrived_ < jobs_.size() && jobs_[arrived_].submit <= now_; }
  bool ends() const { return !ends_.empty() && ends_.top().when <= now_; }

  Result<void> take_all() {
    if (Result<void> taken = take_faults(); !taken) {
      return taken;
    }
    while (ends()) {
      take_end();
    }
    while (arrives()) {
      if (Result<void> taken = submit(arrived_++); !taken) {
        return taken;
      }
    }
    return {};
  }

  Result<void> take_one() {
    if (Result<void> taken = take_faults(); !taken) {
      return taken;
    }
    if (arrives()) {
      return submit(arrived_++);
    }
    if (ends()) {
      take_end();
    }
    return {};
  }

  Duration time_to_failure() {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
        std::min(exponential(random_, to_seconds(options_.faults.between)), 4e9)));
  }

  Result<void> take_faults() {
    while (!faults_.empty() && faults_.top().when <= now_) {
      const Fault fault = faults_.top();
      faults_.pop();
      fruitless_ -= fruitless_ > 0 ? 1 : 0;  // no decision of the policy's
      scheduler_.apply(
          DeviceChanged{fault.device, fault.fails ? DeviceHealth::Lost : DeviceHealth::Ok});
      faults_.push({now_ + (fault.fails ? options_.faults.repair : time_to_failure()), fault.device,
                    !fault.fails});
      if (!fault.fails) {
        continue;
      }
      ++run_.failures;
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
    if (++run_.outcomes[job].lost > kMostLosses) {
      return fail(ErrorCode::Refused,
                  fmt::format("job {} was lost {} times: devices fail too often for it to end",
                              job + 1, kMostLosses));
    }
    leave_devices(job);
    Work& work = work_[job];
    run_.wasted_gpu_seconds += to_seconds(jobs_[job].duration - left_now(work)) * jobs_[job].gpus;
    work.left = work.least = jobs_[job].duration;
    ++work.turn;
    fruitless_ = 0;  // another count ends this
    const std::vector<DeviceId> devices = *lease_of(job);
    scheduler_.apply(JobLost{id_of(job)}, now_);
    adjust_speeds(devices);
    return {};
  }

  void take_end() {
    const End end = ends_.top();
    ends_.pop();
    if (end.turn != work_[end.job].turn) {
      return;
    }
    ++run_.events;
    fruitless_ = 0;
    leave_devices(end.job);
    run_.outcomes[end.job].ended = now_;
    run_.last_end = std::max(run_.last_end, now_);
    const bool shared = neighbours_matter(end.job);
    const std::vector<DeviceId> devices = shared ? *lease_of(end.job) : std::vector<DeviceId>{};
    scheduler_.apply(JobExited{id_of(end.job)}, now_);
    adjust_speeds(devices);
  }

  /// False when decisions get nowhere.
  bool decide() {
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
    Work& work = work_[job];
    JobOutcome& outcome = run_.outcomes[job];
    if (outcome.started == kNever) {
      outcome.started = now_;
      fruitless_ = 0;
    } else if (work.left != jobs_[job].duration) {
      work.left += options_.preemption_cost;
      run_.wasted_gpu_seconds += to_seconds(options_.preemption_cost) * jobs_[job].gpus;
    }
    work.since = now_;
    for (const DeviceId device : start.devices) {
      // Not the scheduler's leases: those are all there before the first start is carried out.
      Busy& busy = busy_[device.value];
      if (busy.jobs++ == 0) {
        power_ += machine_[device.value].spec.power.busy - machine_[device.value].spec.power.idle;
        busy.since = now_;
      }
    }
    run_.peak_power_w = std::max(run_.peak_power_w, power_);
    scheduler_.apply(JobStarted{start.job}, now_);
    work.speed = speed_on(start.devices);
    schedule_end(job);
    if (neighbours_matter(job)) {
      adjust_speeds(start.devices);
    }
  }

  void put_back(std::uint32_t job) {
    ++run_.preemptions;
    ++run_.outcomes[job].preempted;
    leave_devices(job);
    Work& work = work_[job];
    work.left = left_now(work);
    if (work.left < work.least) {
      work.least = work.left;
      fruitless_ = 0;
    }
    ++work.turn;
    const std::vector<DeviceId> devices = *lease_of(job);
    scheduler_.apply(JobPreempted{id_of(job)}, now_);
    adjust_speeds(devices);
  }

  const std::vector<DeviceId>* lease_of(std::uint32_t job) const {
    return scheduler_.find(id_of(job))->lease();
  }

  /// The books of a stay that ends now; the lease is still there.
  void leave_devices(std::uint32_t job) {
    const Time since = std::get<Running>(scheduler_.find(id_of(job))->state).since;
    const std::vector<DeviceId>& devices = *lease_of(job);
    const double seconds = to_seconds(now_ - since);
    run_.outcomes[job].ran += now_ - since;
    const double share = jobs_[job].share == 0 ? 1.0 : jobs_[job].share / 1000.0;
    run_.gpu_seconds += seconds * static_cast<double>(devices.size()) * share;
    run_.memory_gib_seconds += seconds * static_cast<double>(devices.size()) *
                               static_cast<double>(mebibytes(jobs_[job].memory_mib).count) / kGib;
    for (const DeviceId device : devices) {
      Busy& busy = busy_[device.value];
      if (--busy.jobs == 0) {
        power_ -= machine_[device.value].spec.power.busy - machine_[device.value].spec.power.idle;
        run_.device_seconds += to_seconds(now_ - busy.since);
      }
      if (options_.timeline && now_ > since) {
        run_.timeline.push_back({job, device, since, now_});
      }
    }
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
        const std::uint32_t job = job_of(lease.job);
        if (!std::holds_alternative<Running>(scheduler_.find(lease.job)->state)) {
          continue;  // its own start comes next, and looks at all of them
        }
        const float speed = speed_on(*lease_of(job));
        Work& work = work_[job];
        if (speed != work.speed) {
          work.left = left_now(work);
          work.since = now_;
          work.speed = speed;
          ++work.turn;
          schedule_end(job);
        }
      }
    }
  }

  Duration left_now(const Work& work) const {
    const Duration passed = now_ - work.since;
    const Duration done = work.speed == 1
                              ? passed
                              : std::chrono::duration_cast<Duration>(passed * double{work.speed});
    return std::max(work.left - done, Duration{});
  }

  void schedule_end(std::uint32_t job) {
    const Work& work = work_[job];
    const Duration takes =
        work.speed == 1 ? work.left
                        : std::chrono::duration_cast<Duration>(work.left / double{work.speed});
    ends_.push({now_ + takes, job, work.turn});
  }

  const std::vector<SimJob>& jobs_;
  const std::vector<Duration>& expected_;
  const Machine& machine_;
  const SimOptions& options_;
  Scheduler scheduler_;
  std::vector<Work> work_;  // by job
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<Busy> busy_;  // by device
  std::priority_queue<Fault, std::vector<Fault>, std::greater<>> faults_;
  Random random_;
  std::size_t arrived_ = 0;
  std::uint64_t fruitless_ = 0;  // decisions since a job arrived, ended or got something done
  Submit submit_;
  Time now_{};
  double power_ = 0;
  SimRun run_;
};

}  // namespace

Result<SimRun> simulate(const Workload& workload, const std::vector<Duration>& expected,
                        const Machine& machine, std::unique_ptr<Policy> policy,
                        const SimOptions& options) {
  return Simulation(workload, expected, machine, std::move(policy), options).run();
}

}  // namespace berth
