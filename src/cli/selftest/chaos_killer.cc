#include "cli/selftest/chaos_killer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/process_facts.h"
#include "base/small_files.h"
#include "daemon/start.h"
#include "exec/attempt_record.h"
#include "exec/job_processes.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

using std::chrono::milliseconds;

constexpr int kPatienceMilliseconds = 60'000;

/// SIGKILL, and not before it is gone does this return.
bool kill_now(const Fd& process) {
  pollfd end{process.get(), POLLIN, 0};
  return signal_process(process.get(), SIGKILL) && ::poll(&end, 1, kPatienceMilliseconds) == 1;
}

/// SIGSTOP, and not before it stands still does this return. False when it is gone.
bool stop_now(const Fd& process, pid_t pid) {
  if (!signal_process(process.get(), SIGSTOP)) {
    return false;
  }
  for (;;) {
    const std::optional<ProcStat> stat = read_proc_stat(pid);
    if (!stat || !stat->alive() || !signal_process(process.get(), 0)) {
      return false;
    }
    if (stat->state == 'T') {
      return true;
    }
    ::sched_yield();
  }
}

std::string process_name(pid_t pid) {
  return read_small_file(fmt::format("/proc/{}/comm", pid)).value_or("");
}

/// A job has the same name before it has become its program, but leads no session.
bool is_shim(pid_t pid) { return process_name(pid) == "berth-shim\n" && ::getsid(pid) == pid; }

/// The attempt whose record this process has open.
std::optional<AttemptName> attempt_of(pid_t shim, const std::string& home) {
  const std::string folder = fmt::format("/proc/{}/fd", shim);
  for (const std::string& name : names_in(folder)) {
    std::error_code error;
    const std::filesystem::path file = std::filesystem::read_symlink(folder + "/" + name, error);
    if (error || file.parent_path() != home + "/jobs") {
      continue;
    }
    for (const char* ending : {"", ".exit"}) {
      if (const auto attempt = parse_record_name(file.filename().string(), ending)) {
        return attempt;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool kill_daemon(const std::string& home) {
  const pid_t pid = daemon_of(home);
  const Fd process = pid > 0 ? open_pid(pid) : Fd();
  // Asked again: the number may have been given to somebody else in between.
  return process && daemon_of(home) == pid && kill_now(process);
}

ChaosKiller::ChaosKiller(Plan plan) : plan_(std::move(plan)), random_(plan_.seed) {
  left_.fill(plan_.kills);
  thread_ = std::thread([this] { run(); });
}

void ChaosKiller::stop() {
  {
    const std::lock_guard hold(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void ChaosKiller::run() {
  std::unique_lock hold(mutex_);
  while (std::any_of(left_.begin(), left_.end(), [](std::uint32_t left) { return left > 0; })) {
    // Many die young, while they take up what the one before has left.
    constexpr milliseconds kYoung(20);
    const milliseconds usual = 2 * plan_.pause / static_cast<int>(left_.size());
    const milliseconds most = random_.below(3) == 0 ? kYoung : usual;
    const auto moment = std::chrono::microseconds(
        random_.below(1 + static_cast<std::uint64_t>(most.count()) * 1000));
    if (wake_.wait_for(hold, moment, [this] { return stopped_; })) {
      return;
    }
    const auto victim = static_cast<Victim>(random_.below(left_.size()));
    if (left_[victim] > 0 && kill(victim)) {
      --left_[victim];
    }
  }
}

bool ChaosKiller::kill(Victim victim) {
  switch (victim) {
    case kDaemon:
      return kill_daemon(plan_.home);
    case kLauncher:
      return kill_launcher();
    case kShim:
      return kill_shim();
  }
  return false;
}

bool ChaosKiller::kill_launcher() {
  const pid_t daemon = daemon_of(plan_.home);
  for (const JobProcess& each : marked(plan_.mark)) {
    // A newborn shim has the same name, but another parent.
    const Fd process = each.parent == daemon ? open_pid(each.pid) : Fd();
    if (process && process_name(each.pid) == "berth-launcher\n") {
      return kill_now(process);
    }
  }
  return false;
}

bool ChaosKiller::kill_shim() {
  std::vector<JobProcess> found = marked(plan_.mark);
  std::erase_if(found, [](const JobProcess& each) { return !is_shim(each.pid); });
  if (found.empty()) {
    return false;
  }
  const JobProcess& chosen = found[random_.below(found.size())];
  const Fd process = open_pid(chosen.pid);
  // It stands still while it is looked at: a shim goes from one attempt to the next.
  const std::optional<AttemptName> attempt =
      process && is_shim(chosen.pid) && stop_now(process, chosen.pid)
          ? attempt_of(chosen.pid, plan_.home)
          : std::nullopt;
  // One that has no record belongs to nobody knows which attempt.
  if (!attempt) {
    (void)(process && signal_process(process.get(), SIGCONT));
    return false;
  }
  orphaned_.emplace(attempt->job.value, attempt->attempt);
  return kill_now(process);
}

}  // namespace berth
