// The loop of a run.
#include "run/run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

namespace berth {

Run::Run(RunOptions options, Devices& devices, DeviceLocks* locks, Runner& runner,
         RunObserver& observer)
    : options_(std::move(options)),
      devices_(devices),
      locks_(locks),
      runner_(runner),
      observer_(observer),
      outputs_(options_.outputs, poller_, observer_),
      account_(devices.list()),
      notices_(devices.list(), observer_) {}

Result<RunSummary> Run::execute(Input input) {
  if (const Result<void> ready = prepare(); !ready) {
    return Failure(ready.error());
  }
  if (options_.joblog) {
    Result<Joblog> log = Joblog::open(*options_.joblog, options_.resume != RunOptions::Resume::No);
    if (!log) {
      return Failure(log.error());
    }
    joblog_ = std::move(*log);
    jobs_->resume(*joblog_);
  }
  if (const Result<void> ready = outputs_.prepare(); !ready) {
    return Failure(ready.error());
  }
  if (const Result<void> read = open_input(std::move(input)); !read) {
    return Failure(read.error());
  }
  watch_everything();
  account_.begin(now());
  loop();
  driver_->devices().stop_readings();
  driver_->mps().finish();
  RunSummary summary = account_.summarize(driver_->view(), outputs_.lost(), now());
  observer_.finished(summary);
  return summary;
}

void Run::watch_everything() {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&mask, signal);
  }
  if (options_.drain_signal != 0) {
    ::sigaddset(&mask, options_.drain_signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  poller_.add(signals_.get(), [this] { take_signals(); });
  poller_.add(runner_.event_fd(), [this] { take_exits(); });
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
         (halting_ != Halting::No || (!input_ && scheduler.waiting() == 0));
}

void Run::loop() {
  for (;;) {
    const Time at = now();
    act(at);
    if (finished()) {
      return;
    }
    Duration timeout = kForever;
    if (const Time wake = driver_->wake_at(); wake != kNever) {
      timeout = std::max(Duration{}, wake - at);
    }
    if (const Duration interval = observer_.interval(); interval != kForever) {
      if (at - last_redraw_ >= interval) {
        last_redraw_ = at;
        observer_.progress(account_.progress(*driver_, *jobs_, input_.has_value(), at));
      }
      timeout = std::min(timeout, interval - (at - last_redraw_));
    }
    poller_.wait(timeout);
  }
}

void Run::act(Time at) {
  if (options_.halt.when != Halt::When::Never && halting_ == Halting::No) {
    // What has ended may be the reason to start nothing more: it is counted first.
    driver_->scheduler().tell(Pause{}, at);
    driver_->decide(at);
    if (halting_ == Halting::No) {
      driver_->scheduler().tell(Resume{}, at);
    }
  }
  driver_->decide(at);
  driver_->settle();
  notices_.tell(driver_->view(), at);
}

void Run::take_closed_devices() {
  const std::set<std::string> closed = options_.closed_devices();
  for (std::uint32_t i = 0; i < driver_->view().devices().size(); ++i) {
    const DeviceId device{i};
    driver_->devices().set_drained(
        device, closed.contains(driver_->devices().info(device).spec.name), now());
  }
}

void Run::check_halt() {
  RunSummary& summary = account_.summary();
  const std::uint64_t failed = summary.counts.failed + summary.counts.timed_out;
  if (summary.halted || !options_.halt.reached(summary.counts.succeeded, failed)) {
    return;
  }
  summary.halted = true;
  const bool at_once = options_.halt.when == Halt::When::Now;
  observer_.warning(fmt::format("--halt: {} failed, {} succeeded: starting nothing more{}", failed,
                                summary.counts.succeeded, at_once ? ", ending what runs" : ""));
  halt(at_once ? Halting::HasAsked : Halting::StartsNothing);
}

void Run::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    account_.summary().interrupted = true;
    // When the terminal is gone nobody can ask twice.
    const int next = static_cast<int>(halting_) + 1;
    const int level = signal.ssi_signo == SIGHUP ? std::max(2, next) : std::min(3, next);
    halt(static_cast<Halting>(std::min(level, 3)));
    if (const std::size_t running = driver_->view().running().size(); running > 0) {
      observer_.interrupted(static_cast<int>(halting_), running);
    }
  }
}

void Run::halt(Halting how_far) {
  const Time at = now();
  if (halting_ == Halting::No) {
    driver_->scheduler().tell(Pause{}, at);
    close_input();
    driver_->attempts().drop_unlaunched(at);
  }
  const bool ask = how_far >= Halting::HasAsked && halting_ < Halting::HasAsked;
  const bool force = how_far >= Halting::HasKilled;
  halting_ = std::max(halting_, how_far);
  if (!ask && !force) {
    return;
  }
  for (const auto& [id, attempt] : driver_->attempts().all()) {
    // Asking a second time means force. One that a time limit has asked already is forced, too.
    if (ask) {
      (void)driver_->scheduler().tell(Cancel{id}, at).has_value();
    }
    if (force) {
      (void)driver_->scheduler().tell(Cancel{id}, at).has_value();
    }
  }
}

}  // namespace berth
