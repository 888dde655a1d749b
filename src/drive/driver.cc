#include "drive/driver.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "policy/policies.h"

namespace berth {

Result<std::unique_ptr<Driver>> Driver::make(DriverOptions options, Devices& devices, Host& host) {
  Result<std::unique_ptr<Policy>> policy = make_live_policy(options.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  return std::unique_ptr<Driver>(new Driver(std::move(options), std::move(*policy), devices, host));
}

Driver::Driver(DriverOptions options, std::unique_ptr<Policy> policy, Devices& devices, Host& host)
    : options_(std::move(options)),
      host_(host),
      scheduler_(std::move(policy), Restarted{options_.policy, options_.config}, host.now(),
                 options_.journal),
      devices_(scheduler_, host, devices, options_.mark, options_.sample_interval),
      memory_(scheduler_, options_.peaks),
      mps_(options_.mps, host,
           {[this](const StartJob& start) { host_.launch(start, host_.now()); },
            [this](const StartJob& start, const std::string& why) {
              fail_start(start, why, host_.now());
            },
            [this](JobId job, const std::string& text) {
              if (const auto found = attempts_.find(job); found != attempts_.end()) {
                found->second.warning = text;
                host_.attempt_changed(job);
              }
            }}) {
  devices_.on_reading(
      [this](const Telemetry::Reading& reading, Time at) { take_reading(reading, at); });
  add_devices();
}

void Driver::add_devices() { devices_.add_new(options_.measure_power); }

Result<void> Driver::set_policy(const std::string& policy, Placement placement, Time at) {
  Result<std::unique_ptr<Policy>> made = make_live_policy(policy);
  if (!made) {
    return Failure(made.error());
  }
  scheduler_.set_policy(std::move(*made), PolicyChanged{policy, placement}, at);
  options_.policy = policy;
  return {};
}

bool Driver::is_due(Time at) const {
  return scheduler_.has_news() || memory_.behind() || view().wake_at() <= at;
}

void Driver::decide(Time at) {
  memory_.pass_on_claims(options_.claims_at_once, at);
  // Again while another instance was faster: each refusal rules a device out, so it ends.
  do {
    decide_again_ = false;
    for (const Action& action : scheduler_.step(at)) {
      std::visit([&](const auto& what) { act(what, at); }, action);
    }
  } while (decide_again_);
}

void Driver::settle() {
  mps_.settle_unused();
  devices_.release_unused();
}

void Driver::act(const StartJob& action, Time at) {
  if (!devices_.lease(action, at)) {
    decide_again_ = true;
    return;
  }
  DrivenAttempt& attempt = attempts_[action.job];
  attempt = DrivenAttempt{};
  attempt.number = action.attempt;
  attempt.devices = action.devices;
  attempt.begun = at;
  attempt.facts = host_.begin(action, at);
  if (attempt.facts.can_start) {
    launch(action, at);
  }
}

void Driver::launch(const StartJob& start, Time at) {
  const Needs& needs = view().needs(*view().find(start.job));
  if (needs.mps == 0) {
    host_.launch(start, at);
  } else {
    mps_.launch(start, devices_.info(start.devices.front()), needs);
  }
}

void Driver::fail_start(const StartJob& start, const std::string& why, Time at) {
  host_.inform(fmt::format("job {}: {}", start.job.value, why));
  conclude({start.job, 0, 0, AttemptOver::Kind::NotStarted, "", why}, at);
}

void Driver::act(const StopJob& action, Time at) {
  if (mps_.drop(action.job)) {
    // No process is there to be told.
    AttemptOver over{action.job};
    over.signal = SIGTERM;
    conclude(over, at);
    return;
  }
  host_.stop(action);
}

void Driver::act(const WarnJob& action, Time) { host_.warn(action.job); }

void Driver::act(const JobEnded& action, Time at) {
  const Job& job = *view().find(action.job);
  host_.ended(job, std::get<Ended>(job.state), attempt(action.job), at);
  forget(action.job);
  scheduler_.forget(action.job);
}

void Driver::act(const JobRequeued& action, Time at) {
  host_.requeued(action, attempts_.at(action.job), at);
  forget(action.job);
}

/// The attempt is gone, and with it all that was known of it.
void Driver::forget(JobId job) {
  attempts_.erase(job);
  memory_.forget(job);
  mps_.release(job);
}

EnvironmentChanges Driver::environment(const StartJob& start, std::string_view name,
                                       std::string_view project, std::int64_t began_at) const {
  EnvironmentChanges changes = devices_.environment(start.devices);
  const Job& job = *view().find(start.job);
  // As they are now: a claim may have been learned or have grown since the job was submitted.
  if (const Needs& needs = view().needs(job); needs.mps != 0) {
    add_changes(changes, mps_.environment(devices_.info(start.devices.front()), needs));
  }
  changes.emplace_back("BERTH_ATTEMPT", std::to_string(start.attempt));
  changes.emplace_back("BERTH_NAME", std::string(name));
  changes.emplace_back("BERTH_PROJECT", std::string(project));
  changes.emplace_back("BERTH_END_TIME",
                       job.limit == kForever
                           ? std::nullopt
                           : std::optional(std::to_string(
                                 began_at + job.limit / Duration(std::chrono::seconds(1)))));
  if (const DeviceLocks* locks = devices_.locks(); locks != nullptr) {
    changes.emplace_back("BERTH_LEASES", locks->leases(start.devices));
  }
  return changes;
}

void Driver::started(JobId job, pid_t pid, std::string cgroup, Time at) {
  scheduler_.tell(JobStarted{job}, at);
  DrivenAttempt& attempt = attempts_.at(job);
  attempt.pid = pid;
  attempt.cgroup = std::move(cgroup);
  if (!attempt.devices.empty()) {
    devices_.job_started({job, pid, attempt.facts.user, attempt.cgroup});
  }
}

bool Driver::asks_for_output(const AttemptOver& over) const {
  const Job* job = view().find(over.job);
  return job != nullptr && MemoryLessons::asks_for_output(*job, over);
}

void Driver::over(AttemptOver over, Time at) {
  const Job& job = *view().find(over.job);
  if (devices_.has_readings() && MemoryLessons::complains(job, over)) {
    complaints_.push_back({std::move(over), devices_.read_soon()});
    return;
  }
  conclude(over, at);
}

void Driver::conclude(const AttemptOver& over, Time at) {
  decide_again_ = true;
  const Job& job = *view().find(over.job);
  devices_.job_ended(over.job);
  DrivenAttempt& attempt = attempts_.at(over.job);
  attempt.note = over.note;
  if (over.kind == AttemptOver::Kind::Lost) {
    scheduler_.tell(JobLost{over.job}, at);
    return;
  }
  memory_.learn_peak(over, attempt);
  scheduler_.tell(
      JobExited{over.job, over.code, over.signal, over.kind == AttemptOver::Kind::Exited,
                memory_.judge(job, over, attempts_)},
      at);
}

void Driver::adopt(JobId job, DrivenAttempt attempt, std::span<const Bytes> peaks) {
  if (peaks.size() == attempt.devices.size()) {
    memory_.adopt(job, attempt.devices, peaks);
  }
  const Needs& needs = view().needs(*view().find(job));
  if (attempt.pid > 0 && needs.mps != 0 && !attempt.devices.empty()) {
    if (const Result<void> used = mps_.adopt(job, devices_.info(attempt.devices.front()), needs);
        !used) {
      host_.inform(fmt::format("job {}: {}", job.value, used.error().message));
    }
  }
  if (attempt.pid > 0 && !attempt.devices.empty()) {
    devices_.job_started({job, attempt.pid, attempt.facts.user, attempt.cgroup});
  }
  attempts_[job] = std::move(attempt);
}

void Driver::drop_unlaunched(Time at) {
  for (const StartJob& start : mps_.drop_all()) {
    attempts_.erase(start.job);
    scheduler_.tell(StartRefused{start.job, {}}, at);
  }
}

const DrivenAttempt* Driver::attempt(JobId job) const {
  const auto found = attempts_.find(job);
  return found == attempts_.end() ? nullptr : &found->second;
}

void Driver::take_reading(const Telemetry::Reading& reading, Time at) {
  constexpr double kLongest = 2;  // seconds that one reading stands for
  const double length =
      last_reading_ == Time{} ? 0 : std::min(kLongest, to_seconds(at - last_reading_));
  last_reading_ = at;
  for (std::uint32_t i = 0; i < reading.samples.size(); ++i) {
    const std::vector<DeviceLease>& leases = view().devices()[DeviceId{i}].leases;
    for (const DeviceLease& lease : leases) {
      if (const auto used = reading.use[i].jobs.find(lease.job);
          used != reading.use[i].jobs.end() && used->second > Bytes{}) {
        mps_.at_work(lease.job);
      }
      const auto attempt = attempts_.find(lease.job);
      if (const std::optional<double>& power = reading.samples[i].power;
          power && attempt != attempts_.end()) {
        // Jobs that share a device share its bill.
        attempt->second.energy = attempt->second.energy.value_or(0) +
                                 *power * length / static_cast<double>(leases.size());
      }
    }
  }
  memory_.take(reading, at);
  host_.reading_taken(reading, at);
  // The instance or job that took the memory of these still has it.
  for (Complaint& complaint : std::exchange(complaints_, {})) {
    const Job* job = view().find(complaint.over.job);
    if (job == nullptr || job->lease() == nullptr) {
      continue;
    }
    if (reading.asked < complaint.asked) {
      complaints_.push_back(std::move(complaint));
    } else {
      conclude(complaint.over, at);
    }
  }
}

}  // namespace berth
