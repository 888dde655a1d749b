// Opening the daemon: its files, its devices, and what the daemon before has left.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "daemon/daemon.h"
#include "daemon/policy_setting.h"
#include "daemon/restore.h"
#include "daemon/risk_setting.h"
#include "exec/process_identity.h"
#include "policy/policies.h"
#include "rl/packed_name.h"

namespace berth {

Result<std::unique_ptr<Daemon>> Daemon::make(const DaemonOptions& options) {
  std::unique_ptr<Daemon> daemon(new Daemon(options));
  if (const Result<void> opened = daemon->open(); !opened) {
    return Failure(opened.error());
  }
  return daemon;
}

Result<void> Daemon::open() {
  if (Result<void> opened = state_.open(options_.everyone); !opened) {
    return opened;
  }
  // The launcher is forked while this process is small and has one thread.
  ShimRunner::Options runner_options;
  runner_options.boot_id_path = StateFolder::boot_id_path();
  Result<std::unique_ptr<ShimRunner>> runner =
      ShimRunner::make(state_.path("jobs"), runner_options);
  if (!runner) {
    return Failure(runner.error());
  }
  Targets::Options targets;
  targets.config = state_.paths().config + "/clusters";
  targets.folder = state_.path("slurm");
  targets.log = [this](const std::string& text) { state_.log().write("{}", text); };
  runner_ = std::make_unique<Targets>(std::move(*runner), std::move(targets));
  if (Result<void> opened = state_.open_store(); !opened) {
    return opened;
  }
  if (Result<void> set =
          clock_.go_on(state_.store(), read_boot_id(StateFolder::boot_id_path()), state_.log());
      !set) {
    return set;
  }
  turns_ = std::make_unique<Turns>(loop_, state_.store(), clock_, state_.log());
  files_ = std::make_unique<JobFiles>(state_, clock_);
  if (Result<void> opened = open_driver(); !opened) {
    return opened;
  }
  open_desk();
  if (Result<void> taken = take_up(); !taken) {
    return taken;
  }
  driver_->devices().start_readings();
  return requests_->open();
}

Result<void> Daemon::open_driver() {
  Result<PolicySetting> setting = read_policy(state_.store(), options_);
  if (!setting) {
    return Failure(setting.error());
  }
  const Result<double> risk = read_risk(state_.store(), options_);
  if (!risk) {
    return Failure(risk.error());
  }
  DriverOptions wanted;
  wanted.policy = std::move(setting->policy);
  if (options_.policy.empty()) {  // kept by a daemon before, perhaps by a newer one
    if (const auto made = make_live_policy(wanted.policy); !made) {
      wanted.trouble = fmt::format("priority decides instead of {}: {}",
                                   policy_label(wanted.policy), made.error().message);
      wanted.policy = "priority";
      state_.log().write("{}", wanted.trouble);
    }
  }
  wanted.config.placement = setting->placement;
  wanted.config.limits.buffer = options_.buffer;
  wanted.config.enforce_claims = options_.enforce_claims;
  wanted.config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  wanted.peaks = state_.path("peaks");
  wanted.oom_risk = *risk;
  wanted.mark = state_.paths().state;
  wanted.mps = {"daemon " + state_.paths().state, ""};
  // What the scheduler is told is written down, so that its decisions can be replayed.
  wanted.journal = [this](const JournalInput& input, Time at) {
    turns_->check(state_.store().journal().append(at, input));
    turns_->commit_soon();
    if (reports_ != nullptr) {
      reports_->outdate_forecast();
    }
  };
  if (Result<void> opened = devices_.open(state_.store(), options_.gpus); !opened) {
    return opened;
  }
  Result<std::unique_ptr<JournalKeeper>> keeper =
      JournalKeeper::make(state_.store(), JournalKeeper::limits_from_environment(), clock_.now(),
                          [this] { turns_->commit_soon(); });
  if (!keeper) {
    return Failure(keeper.error());
  }
  keeper_ = std::move(*keeper);
  host_ = std::make_unique<ShimHost>(ShimHost::Parts{
      loop_, turns_->watchdog(), clock_, state_.log(), *runner_, devices_, *files_,
      state_.paths().state, [this](const JobSpec& spec) { return runner_->options_for(spec); }});
  Result<std::unique_ptr<Driver>> driver =
      Driver::make(std::move(wanted), devices_.group(), *host_);
  if (!driver) {
    return Failure(driver.error());
  }
  driver_ = std::move(*driver);
  turns_->check(keep_policy(state_.store(), *driver_));
  return {};
}

void Daemon::open_desk() {
  // Numbers of events grow over restarts, as the time does.
  events_ = std::make_unique<EventHub>(
      static_cast<std::uint64_t>(clock_.now().time_since_epoch() / std::chrono::microseconds(1)),
      [this](JobId id) { return reports_->described(id); });
  desk_ = std::make_unique<Desk>(
      Desk{options_, clock_, state_.log(), state_.store(), *driver_, *turns_, *events_,
           FairUse(options_.per_user, ::getuid()), Privacy(options_.keep_private, ::getuid()),
           Owners(options_.everyone ? ChargedTo::User : ChargedTo::Project)});
  desk_->check_cluster = [this](const JobSpec& spec) { return runner_->check(spec); };
  desk_->find_standing = [this](JobId job) { return runner_->standing(job); };
  reports_ = std::make_unique<JobReports>(*desk_, devices_);
  spill_ = std::make_unique<Spill>(*desk_, *reports_, *runner_);
  requests_ = std::make_unique<Requests>(Requests::Parts{
      *desk_, loop_, state_, *runner_, devices_, *reports_, *files_, clock_.now(), runner_.get()});
  host_->use(*desk_, requests_->listeners());
}

Result<void> Daemon::take_up() {
  if (Result<void> restored =
          devices_.restore(state_.store(), *driver_, state_.log(), clock_.now());
      !restored) {
    return restored;
  }
  const Result<std::optional<std::string>> paused = state_.store().settings().get("paused");
  if (!paused) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  if (!paused->value_or("").empty()) {
    driver_->scheduler().tell(Pause{}, clock_.now());
  }
  if (Result<void> learned = learn_lengths(state_.store(), driver_->lengths()); !learned) {
    return learned;
  }
  if (Result<void> restored =
          restore_jobs({*desk_, *host_, *runner_, devices_, state_.paths().state});
      !restored) {
    return restored;
  }
  if (Result<void> settled = settle_risk(state_.store(), *driver_); !settled) {
    return settled;
  }
  if (Result<void> restored = desk_->recent.restore(state_.store()); !restored) {
    return restored;
  }
  return {};
}

}  // namespace berth
