#include "cli/selftest/chaos_leftovers.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "cli/selftest/chaos_daemon.h"
#include "cli/toolkit/daemon_client.h"
#include "daemon/start.h"
#include "exec/job_processes.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

using std::chrono::milliseconds;

/// Whether the process is gone in time.
bool wait_for_end(const Fd& process, milliseconds at_most) {
  pollfd poll{process.get(), POLLIN, 0};
  return !process || ::poll(&poll, 1, static_cast<int>(at_most.count())) == 1;
}

}  // namespace

std::vector<Finding> check_leftovers(const std::string& home, const std::string& mark) {
  std::vector<Finding> findings;
  const pid_t pid = daemon_of(home);
  const Fd process = pid > 0 ? open_pid(pid) : Fd();
  if (Result<HttpClient> daemon = connect_running_daemon()) {
    (void)ask(*daemon, "POST", "/v1/daemon/stop").has_value();
  }
  const auto deadline = std::chrono::steady_clock::now() + kChaosPatience;
  if (!wait_for_end(process, kChaosPatience)) {
    findings.push_back({Finding::Kind::Left, "the daemon does not stop"});
  }
  for (const JobProcess& left : marked(mark)) {
    // The launcher sees the daemon go and follows.
    const Fd other = open_pid(left.pid);
    const auto time =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (!wait_for_end(other, std::max(time, milliseconds(0)))) {
      findings.push_back(
          {Finding::Kind::Left, fmt::format("process {} is still running", left.pid)});
    }
  }
  return findings;
}

void end_everything(const std::string& mark) {
  // What forks while it is looked for is found in the next look.
  for (std::vector<JobProcess> left = marked(mark); !left.empty(); left = marked(mark)) {
    std::vector<Fd> processes;
    for (const JobProcess& each : left) {
      processes.push_back(open_pid(each.pid));
      if (processes.back() && has_marks(each.pid, {mark})) {
        (void)signal_process(processes.back().get(), SIGKILL);
      }
    }
    for (const Fd& process : processes) {
      (void)wait_for_end(process, std::chrono::seconds(1));
    }
  }
}

}  // namespace berth
