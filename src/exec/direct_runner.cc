#include "exec/direct_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/secret.h"
#include "exec/job_processes.h"
#include "exec/raw_syscall.h"

namespace berth {
namespace {

constexpr const char* kShell = "/bin/sh";

char* as_argument(const char* text) { return const_cast<char*>(text); }

int number_of(StopSignal signal) { return signal == StopSignal::Kill ? SIGKILL : SIGTERM; }

/// Whether `entry` ("NAME=value") of the environment is one that the launch sets or removes.
bool replaced(const char* entry, const Launch& launch) {
  return std::any_of(launch.environment.begin(), launch.environment.end(), [&](const auto& change) {
    const std::string& name = change.first;
    return std::strncmp(name.c_str(), entry, name.size()) == 0 && entry[name.size()] == '=';
  });
}

/// In the child, which may make raw system calls only.
BERTH_UNSANITIZED int begin_direct_child(void* argument) {
  const auto& setup = *static_cast<const DirectSetup*>(argument);
  constexpr long kFirst = 50;  // out of the way of what scripts number by hand
  for (std::size_t i = 0; i < setup.locks; ++i) {
    raw_syscall(SYS_fcntl, setup.first_lock[i], F_DUPFD, kFirst);
  }
  if (setup.parents_group != 0) {
    // The leader of a process group cannot begin a session.
    raw_syscall(SYS_setpgid, 0, setup.parents_group);
    raw_syscall(SYS_setsid);
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<DirectRunner>> DirectRunner::make(Options options) {
  std::unique_ptr<DirectRunner> runner(new DirectRunner);
  runner->token_ = random_name();
  // Nothing that berth inherited or will open reaches a job: marked once here, not closed per
  // start.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  Result<OrphanGuard> guard = OrphanGuard::start("BERTH_RUN=" + runner->token_);
  if (!guard) {
    return Failure(guard.error());
  }
  runner->guard_.emplace(std::move(*guard));
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return fail_errno("cannot adopt the processes of jobs", errno);
  }
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &child, nullptr);
  runner->child_signal_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  runner->null_ = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!runner->child_signal_ || !runner->null_) {
    return fail_errno("cannot open what running jobs takes", errno);
  }
  if (options.use_cgroups) {
    runner->cgroups_ = CgroupFolder::make();
  }
  return runner;
}

DirectRunner::~DirectRunner() {
  // Whoever drops the runner has waited for its jobs, or means to end them.
  for (const auto& [pid, process] : running_) {
    stop(process->launch.job, StopSignal::Kill);
  }
  for (const auto& [pid, process] : running_) {
    ::waitpid(pid, nullptr, 0);
  }
}

void DirectRunner::prepare(Process& process) {
  const Launch& launch = process.launch;
  SpawnPlan& plan = process.plan;
  for (const auto& [name, value] : launch.environment) {
    if (value) {
      process.variables.push_back(fmt::format("{}={}", name, *value));
    }
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!replaced(*entry, launch)) {
      plan.environment.push_back(*entry);
    }
  }
  for (const std::string& variable : process.variables) {
    plan.environment.push_back(as_argument(variable.c_str()));
  }
  plan.environment.push_back(nullptr);
  plan.path = kShell;
  plan.arguments = {as_argument("sh"), as_argument("-c"), as_argument(launch.command.c_str()),
                    nullptr};
  plan.stdin_fd = launch.stdin_fd >= 0 ? launch.stdin_fd : null_.get();
  plan.stdout_fd = launch.stdout_fd;
  plan.stderr_fd = launch.stderr_fd;
  plan.death_signal = SIGTERM;
  process.setup = {launch.locks.data(), launch.locks.size(),
                   launch.own_session ? ::getpgrp() : pid_t{0}};
  plan.prepare = begin_direct_child;
  plan.prepare_argument = &process.setup;
}

Result<pid_t> DirectRunner::start(Launch launch) {
  launch.environment.emplace_back("BERTH_RUN", token_);
  launch.environment.emplace_back("BERTH_JOB_ID", std::to_string(launch.job.value));
  auto process = std::make_unique<Process>(std::move(launch));
  prepare(*process);
  if (spare_stacks_.empty()) {
    process->stack = std::make_unique<SpawnStack>();
  } else {
    process->stack = std::move(spare_stacks_.back());
    spare_stacks_.pop_back();
  }
  if (cgroups_ != nullptr) {
    process->cgroup = cgroups_->create();
  }
  const Result<pid_t> pid =
      spawn(process->plan, *process->stack,
            process->cgroup != nullptr ? process->cgroup->directory_fd() : -1);
  if (!pid) {
    return pid;
  }
  process->pid = *pid;
  pids_[process->launch.job.value] = *pid;
  running_.emplace(*pid, std::move(process));
  return pid;
}

std::vector<std::string> DirectRunner::marks(JobId job) const {
  return {"BERTH_RUN=" + token_, fmt::format("BERTH_JOB_ID={}", job.value)};
}

void DirectRunner::stop(JobId job, StopSignal signal) {
  const auto pid = pids_.find(job.value);
  if (pid == pids_.end()) {
    return;
  }
  if (Process& process = *running_.at(pid->second);
      process.cgroup != nullptr && signal == StopSignal::Kill) {
    process.cgroup->kill();
  } else {
    signal_all(process, number_of(signal));
  }
}

void DirectRunner::pause(JobId job, bool stopped) {
  if (const auto pid = pids_.find(job.value); pid != pids_.end()) {
    signal_all(*running_.at(pid->second), stopped ? SIGSTOP : SIGCONT);
  }
}

void DirectRunner::signal_all(const Process& process, int signal) {
  if (process.cgroup != nullptr) {
    for (const pid_t member : process.cgroup->processes()) {
      ::kill(member, signal);
    }
  } else {
    // Its number cannot be anyone else's: we have not reaped it.
    signal_tree(process.pid, process.pid, signal);
    signal_adopted(marks(process.launch.job), signal);
  }
}

std::string DirectRunner::cgroup_of(JobId job) const {
  const auto pid = pids_.find(job.value);
  const auto process = pid == pids_.end() ? running_.end() : running_.find(pid->second);
  return process != running_.end() && process->second->cgroup != nullptr
             ? process->second->cgroup->name()
             : std::string();
}

std::vector<JobProcess> DirectRunner::adopted() const {
  std::vector<JobProcess> children = own_children();
  std::erase_if(children, [&](const JobProcess& child) {
    return running_.contains(child.pid) || child.pid == guard_->pid() ||
           has_marks(child.pid, {"BERTH_RUN=" + token_, "BERTH_JOB_ID="});
  });
  return children;
}

void DirectRunner::signal_adopted(const std::vector<std::string>& job_marks, int signal) {
  for (const JobProcess& child : adopted()) {
    if (has_marks(child.pid, job_marks)) {
      const std::vector<JobProcess> below = descendants(child.pid);
      signal_process(child, signal);
      for (const JobProcess& process : below) {
        signal_process(process, signal);
      }
    }
  }
}

void DirectRunner::kill_leftovers(const Process& process) {
  ::kill(-process.pid, SIGKILL);
  if (!adopted().empty()) {
    dying_marks_.push_back(marks(process.launch.job));
    signal_adopted(dying_marks_.back(), SIGKILL);
  }
}

Exit DirectRunner::finish(std::unique_ptr<Process> process, int code, int signal) {
  const Exit exit{process->launch.job, code, signal, process->plan.error};
  pids_.erase(process->launch.job.value);
  if (process->cgroup != nullptr) {
    cgroups_->retire(std::move(process->cgroup));
  } else {
    kill_leftovers(*process);
  }
  spare_stacks_.push_back(std::move(process->stack));
  return exit;
}

std::vector<Exit> DirectRunner::take_exits() {
  signalfd_siginfo announced[16];
  while (::read(child_signal_.get(), announced, sizeof announced) > 0) {
  }
  std::vector<Exit> exits;
  bool adopted_died = false;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) {
      break;
    }
    const auto found = running_.find(pid);
    if (found == running_.end()) {
      adopted_died = true;
      continue;
    }
    std::unique_ptr<Process> process = std::move(found->second);
    running_.erase(found);
    exits.push_back(finish(std::move(process), WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                           WIFSIGNALED(status) ? WTERMSIG(status) : 0));
  }
  if (adopted_died && !dying_marks_.empty()) {
    // Its children are ours now, and are to follow it.
    for (const std::vector<std::string>& job_marks : dying_marks_) {
      signal_adopted(job_marks, SIGKILL);
    }
    if (adopted().empty()) {
      dying_marks_.clear();
    }
  }
  return exits;
}

}  // namespace berth
