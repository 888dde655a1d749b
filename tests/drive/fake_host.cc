#include "drive/fake_host.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace berth {
namespace {

constexpr int kEventDeadline = 20'000;  // milliseconds
constexpr int kCannotStart = 127;

/// Longer than any test, and not for ever if the test is killed.
pid_t start_sleeper() {
  char program[] = "sleep";
  char length[] = "600";
  char* arguments[] = {program, length, nullptr};
  char* environment[] = {nullptr};
  pid_t pid = 0;
  require(::posix_spawnp(&pid, program, nullptr, nullptr, arguments, environment) == 0,
          "no process could be started");
  return pid;
}

void end_sleeper(pid_t pid) {
  ::kill(pid, SIGKILL);
  (void)::waitpid(pid, nullptr, 0);
}

}  // namespace

FakeHost::~FakeHost() {
  for (const auto& [job, pid] : processes_) {
    end_sleeper(pid);
  }
}

void FakeHost::watch(int fd, std::string_view what, std::function<void()> readable) {
  watches_[fd] = {std::string(what), std::move(readable)};
}

void FakeHost::unwatch(int fd) { watches_.erase(fd); }

void FakeHost::wait_for(const std::string& what) {
  const auto found = std::find_if(watches_.begin(), watches_.end(),
                                  [&](const auto& entry) { return entry.second.what == what; });
  require(found != watches_.end(), "nobody watches " + what);
  pollfd ready{found->first, POLLIN, 0};
  require(::poll(&ready, 1, kEventDeadline) == 1, "nothing is heard of " + what);
  const std::function<void()> readable = found->second.readable;
  readable();
}

FakeHost::Start FakeHost::take_plan(JobId job) {
  const auto planned = plans_.extract(jobs_.name(job));
  return planned ? planned.mapped() : Start::AtOnce;
}

AttemptFacts FakeHost::begin(const StartJob& start, Time) {
  begun_.push_back(start);
  AttemptFacts facts;
  facts.user = ::geteuid();
  if (const auto recipe = recipes_.find(start.job); recipe != recipes_.end()) {
    facts.recipe = recipe->second;
  }
  const auto planned = plans_.find(jobs_.name(start.job));
  facts.can_start = planned == plans_.end() || planned->second != Start::Impossible;
  return facts;
}

void FakeHost::launch(const StartJob& start, Time at) {
  std::vector<std::uint32_t> devices;
  for (const DeviceId device : start.devices) {
    devices.push_back(device.value);
  }
  happened_.push_back(
      fmt::format("launch {} on {}", jobs_.name(start.job),
                  devices.empty() ? "cpu" : fmt::format("{}", fmt::join(devices, ","))));
  switch (take_plan(start.job)) {
    case Start::AtOnce:
      start_now(start.job);
      break;
    case Start::Fails:
      driver_->attempts().over({start.job, kCannotStart, 0, AttemptOver::Kind::NotStarted}, at);
      break;
    case Start::Late:
    case Start::Impossible:
      break;
  }
}

void FakeHost::start_now(JobId job) {
  processes_[job] = start_sleeper();
  driver_->attempts().started(job, processes_[job], "", now_);
}

void FakeHost::end_process(JobId job) {
  if (const auto process = processes_.extract(job)) {
    end_sleeper(process.mapped());
  }
}

pid_t FakeHost::process_of(JobId job) const {
  const auto found = processes_.find(job);
  require(found != processes_.end(), "it has no process");
  return found->second;
}

void FakeHost::stop(const StopJob& stop) {
  happened_.push_back(
      fmt::format("{} {}", stop.how == StopJob::How::Ask ? "stop" : "kill", jobs_.name(stop.job)));
}

void FakeHost::warn(JobId job) { happened_.push_back("warn " + jobs_.name(job)); }

/// What is known of the attempt is still there while its end is told.
void FakeHost::end_words(JobId job, const std::string& words, const DrivenAttempt* attempt) {
  happened_.push_back(words);
  if (attempt != nullptr && !attempt->note.empty()) {
    happened_.push_back(fmt::format("note {} {}", jobs_.name(job), attempt->note));
  }
  if (attempt != nullptr && attempt->energy.value_or(0) > 0) {
    happened_.push_back(fmt::format("energy {} {:g}J", jobs_.name(job), *attempt->energy));
  }
}

void FakeHost::ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time) {
  end_words(job.id, fmt::format("end {} {}", jobs_.name(job.id), outcome_name(ended.outcome)),
            attempt);
}

void FakeHost::requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time) {
  end_words(requeued.job,
            fmt::format("requeue {} {}", jobs_.name(requeued.job),
                        outcome_name(requeued.attempt.outcome)),
            &attempt);
}

void FakeHost::attempt_changed(JobId job) {
  happened_.push_back(
      fmt::format("changed {} {}", jobs_.name(job), driver_->attempts().find(job)->warning));
}

void FakeHost::device_changed(DeviceId device, DeviceHealth) {
  happened_.push_back(fmt::format("device {} {}", device.value,
                                  health_name(driver_->view().devices()[device].health)));
}

void FakeHost::blocked(const DeviceLocks::Obstacle& obstacle) {
  happened_.push_back(fmt::format("blocked {} {}", obstacle.device.value,
                                  obstacle.holder ? "by another" : "for it cannot be locked"));
}

}  // namespace berth
