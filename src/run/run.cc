#include "run/run.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "base/paths.h"

namespace berth {
namespace {

DriverOptions driver_options(const RunOptions& run, const std::vector<DeviceInfo>& devices,
                             const std::string& mark) {
  DriverOptions options;
  options.policy = run.policy;
  options.config.grace = run.grace;
  options.config.placement = run.placement;
  options.config.limits.buffer = run.buffer;
  options.config.enforce_claims = run.enforce_claims;
  options.config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  options.mark = mark;
  options.sample_interval = run.sample_interval;
  // Only one policy asks for it, and drivers take a while to answer.
  options.measure_power = run.policy.starts_with("energy");
  options.claims_at_once = std::numeric_limits<std::size_t>::max();
  // Of devices that are taken on trust nobody will know what jobs use.
  if (std::any_of(devices.begin(), devices.end(),
                  [](const DeviceInfo& device) { return device.spec.memory > Bytes{}; })) {
    options.peaks = run.peaks;
    options.oom_risk = run.oom_risk;
  }
  // The mark lets control daemons be ended with the jobs if this process is killed.
  const Result<Paths> paths = find_paths();
  options.mps = {"run " + (paths ? paths->state : ""), "BERTH_RUN=" + mark};
  return options;
}

}  // namespace

Run::Run(RunOptions options, Devices& devices, DeviceLocks* locks, Runner& runner,
         RunObserver& observer)
    : options_(std::move(options)),
      devices_(devices),
      locks_(locks),
      runner_(runner),
      observer_(observer),
      account_(devices.list()),
      host_({options_, devices, locks, runner, observer, poller_, account_}) {}

Result<void> Run::prepare() {
  Result<std::unique_ptr<Driver>> driver =
      Driver::make(driver_options(options_, devices_.list(), runner_.token()), devices_, host_);
  if (!driver) {
    return Failure(driver.error());
  }
  driver_ = std::move(*driver);
  jobs_.emplace(options_, *driver_);
  input_.emplace(options_, *jobs_, account_, observer_, poller_, host_);
  halt_.emplace(options_, *driver_, *input_, account_, observer_, host_);
  host_.use(*driver_, *jobs_, [this] { halt_->check(); });
  account_.begin(host_.now());
  Needs needs = options_.defaults.needs;
  return driver_->mps().settle(needs, ::geteuid());
}

Result<void> Run::rehearse(Input input,
                           const std::function<void(const JobLine&, const Needs&)>& visit) {
  if (const Result<void> ready = prepare(); !ready) {
    return ready;
  }
  return input_->rehearse(input, [&](const JobLine& line) {
    if (const Job* job = driver_->view().find(jobs_->last()); job != nullptr) {
      visit(line, driver_->view().needs(*job));
    }
  });
}

Result<RunSummary> Run::execute(Input input) {
  if (const Result<void> ready = prepare(); !ready) {
    return Failure(ready.error());
  }
  if (const Result<void> ready = host_.open_files(); !ready) {
    return Failure(ready.error());
  }
  if (const Result<void> read = input_->open(std::move(input)); !read) {
    return Failure(read.error());
  }
  watch_everything();
  account_.begin(host_.now());
  loop();
  driver_->devices().stop_readings();
  driver_->mps().finish();
  RunSummary summary = account_.summarize(driver_->view(), host_.lost_output(), host_.now());
  observer_.finished(summary);
  return summary;
}

void Run::watch_everything() {
  halt_->watch_signals(poller_);
  poller_.add(runner_.event_fd(), [this] { host_.take_exits(); });
  driver_->devices().use_locks(locks_);
  if (options_.closed_devices) {
    poller_.add(options_.closed_devices_fd, [this] { take_closed_devices(); });
    take_closed_devices();
  }
  const std::vector<DeviceInfo>& list = devices_.list();
  if (std::any_of(list.begin(), list.end(), [](const DeviceInfo& device) {
        return device.family != DeviceFamily::Trusted;
      })) {
    driver_->devices().start_readings();
  }
}

bool Run::finished() const {
  const Scheduler& scheduler = driver_->view();
  return scheduler.running().empty() &&
         (halt_->has_begun() || (!input_->is_open() && scheduler.waiting() == 0));
}

void Run::loop() {
  for (;;) {
    const Time at = host_.now();
    act(at);
    if (finished()) {
      return;
    }
    Duration timeout = kForever;
    if (const Time wake = driver_->wake_at(); wake != kNever) {
      timeout = std::max(Duration{}, wake - at);
    }
    if (const Time turn = host_.next_turn(); turn != kNever) {
      timeout = std::min(timeout, std::max(Duration{}, turn - at));
    }
    if (const Duration interval = observer_.interval(); interval != kForever) {
      if (at - last_redraw_ >= interval) {
        last_redraw_ = at;
        observer_.progress(account_.progress(*driver_, *jobs_, input_->is_open(), at));
      }
      timeout = std::min(timeout, interval - (at - last_redraw_));
    }
    poller_.wait(timeout);
  }
}

void Run::act(Time at) {
  if (halt_->may_begin()) {
    // What has ended may be the reason to start nothing more: it is counted first.
    driver_->scheduler().tell(Pause{}, at);
    driver_->decide(at);
    if (!halt_->has_begun()) {
      driver_->scheduler().tell(Resume{}, at);
    }
  }
  driver_->decide(at);
  driver_->settle();
  host_.take_turns(at);
  host_.tell_waits(at);
}

void Run::take_closed_devices() {
  const std::set<std::string> closed = options_.closed_devices();
  for (std::uint32_t i = 0; i < driver_->view().devices().size(); ++i) {
    const DeviceId device{i};
    driver_->devices().set_drained(
        device, closed.contains(driver_->devices().info(device).spec.name), host_.now());
  }
}

}  // namespace berth
