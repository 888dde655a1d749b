#include "drive/driven_attempts.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace berth {

DrivenAttempts::DrivenAttempts(ToldScheduler& scheduler, LiveDevices& devices,
                               MemoryLessons& memory, MpsStarts& mps, Host& host)
    : scheduler_(scheduler), devices_(devices), memory_(memory), mps_(mps), host_(host) {}

bool DrivenAttempts::begin(const StartJob& start, Time at) {
  if (!devices_.lease(start, at)) {
    return false;
  }
  DrivenAttempt& attempt = attempts_[start.job];
  attempt = DrivenAttempt{};
  attempt.number = start.attempt;
  attempt.devices = start.devices;
  attempt.begun = at;
  attempt.facts = host_.begin(start, at);
  if (attempt.facts.can_start) {
    launch(start, at);
  }
  return true;
}

void DrivenAttempts::launch(const StartJob& start, Time at) {
  const Needs& needs = scheduler_->needs(*scheduler_->find(start.job));
  if (needs.mps == 0) {
    host_.launch(start, at);
  } else {
    mps_.launch(start, devices_.info(start.devices.front()), needs);
  }
}

void DrivenAttempts::fail_start(const StartJob& start, const std::string& why, Time at) {
  host_.inform(fmt::format("job {}: {}", start.job.value, why));
  conclude({start.job, 0, 0, AttemptOver::Kind::NotStarted, "", why}, at);
}

void DrivenAttempts::warn(JobId job, const std::string& text) {
  if (const auto found = attempts_.find(job); found != attempts_.end()) {
    found->second.warning = text;
    host_.attempt_changed(job);
  }
}

void DrivenAttempts::stop(const StopJob& stop, Time at) {
  if (mps_.drop(stop.job)) {
    // No process is there to be told.
    AttemptOver over{stop.job};
    over.signal = SIGTERM;
    conclude(over, at);
    return;
  }
  host_.stop(stop);
}

void DrivenAttempts::end(JobId id, Time at) {
  const Job& job = *scheduler_->find(id);
  host_.ended(job, std::get<Ended>(job.state), find(id), at);
  forget(id);
  scheduler_.forget(id);
}

void DrivenAttempts::requeue(const JobRequeued& requeued, Time at) {
  host_.requeued(requeued, attempts_.at(requeued.job), at);
  forget(requeued.job);
}

/// The attempt is gone, and with it all that was known of it.
void DrivenAttempts::forget(JobId job) {
  attempts_.erase(job);
  memory_.forget(job);
  mps_.release(job);
}

EnvironmentChanges DrivenAttempts::environment(const StartJob& start, std::string_view name,
                                               std::string_view project,
                                               std::int64_t began_at) const {
  EnvironmentChanges changes = devices_.environment(start.devices);
  const Job& job = *scheduler_->find(start.job);
  // As they are now: a claim may have been learned or have grown since the job was submitted.
  if (const Needs& needs = scheduler_->needs(job); needs.mps != 0) {
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

void DrivenAttempts::started(JobId job, pid_t pid, std::string cgroup, Time at) {
  scheduler_.tell(JobStarted{job}, at);
  DrivenAttempt& attempt = attempts_.at(job);
  attempt.pid = pid;
  attempt.cgroup = std::move(cgroup);
  if (!attempt.devices.empty()) {
    devices_.job_started({job, pid, attempt.facts.user, attempt.cgroup});
  }
}

bool DrivenAttempts::asks_for_output(const AttemptOver& over) const {
  const Job* job = scheduler_->find(over.job);
  return job != nullptr && MemoryLessons::asks_for_output(*job, over);
}

void DrivenAttempts::over(AttemptOver over, Time at) {
  const Job& job = *scheduler_->find(over.job);
  if (devices_.has_readings() && MemoryLessons::complains(job, over)) {
    complaints_.push_back({std::move(over), devices_.read_soon()});
    return;
  }
  conclude(over, at);
}

void DrivenAttempts::conclude(const AttemptOver& over, Time at) {
  ++concluded_;
  const Job& job = *scheduler_->find(over.job);
  devices_.job_ended(over.job);
  DrivenAttempt& attempt = attempts_.at(over.job);
  attempt.note = over.note;
  if (over.kind == AttemptOver::Kind::Lost) {
    scheduler_.tell(JobLost{over.job}, at);
    return;
  }
  memory_.learn_run(over, attempt, at);
  scheduler_.tell(
      JobExited{over.job, over.code, over.signal, over.kind == AttemptOver::Kind::Exited,
                memory_.judge(job, over, attempts_)},
      at);
}

void DrivenAttempts::adopt(JobId job, DrivenAttempt attempt, std::span<const Bytes> peaks) {
  if (peaks.size() == attempt.devices.size()) {
    memory_.adopt(job, attempt.devices, peaks);
  }
  const Needs& needs = scheduler_->needs(*scheduler_->find(job));
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

void DrivenAttempts::used_elsewhere(JobId job, Bytes peak, std::optional<double> energy) {
  if (const auto found = attempts_.find(job); found != attempts_.end()) {
    found->second.energy = energy;
    memory_.used_elsewhere(job, peak);
  }
}

void DrivenAttempts::take_back(JobId job, Time at) {
  forget(job);
  scheduler_.tell(StartRefused{job, {}}, at);
}

void DrivenAttempts::drop_unlaunched(Time at) {
  for (const StartJob& start : mps_.drop_all()) {
    attempts_.erase(start.job);
    scheduler_.tell(StartRefused{start.job, {}}, at);
  }
}

const DrivenAttempt* DrivenAttempts::find(JobId job) const {
  const auto found = attempts_.find(job);
  return found == attempts_.end() ? nullptr : &found->second;
}

void DrivenAttempts::measure(const Telemetry::Reading& reading, Time at) {
  constexpr double kLongest = 2;  // seconds that one reading stands for
  const double length =
      last_reading_ == Time{} ? 0 : std::min(kLongest, to_seconds(at - last_reading_));
  last_reading_ = at;
  for (std::uint32_t i = 0; i < reading.samples.size(); ++i) {
    const std::vector<DeviceLease>& leases = scheduler_->devices()[DeviceId{i}].leases;
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
}

void DrivenAttempts::settle_complaints(const Telemetry::Reading& reading, Time at) {
  // The instance or job that took the memory of these still has it.
  for (Complaint& complaint : std::exchange(complaints_, {})) {
    const Job* job = scheduler_->find(complaint.over.job);
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
