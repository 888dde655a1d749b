#include "exec/live_attempt.h"

#include <signal.h>

#include "exec/job_processes.h"
#include "exec/process_identity.h"
#include "exec/shim.h"

namespace berth {
namespace {

void signal_without_shim(const LiveAttempt& attempt, const AttemptFolder& folder, int signal) {
  if (attempt.cgroup != nullptr && signal == SIGKILL) {
    attempt.cgroup->kill();
  } else if (attempt.cgroup != nullptr) {
    for (const pid_t member : attempt.cgroup->processes()) {
      ::kill(member, signal);
    }
  } else if (attempt.job != 0 && signal_process(attempt.process.get(), 0)) {
    // Not reaped, so its number and its group's are still its own.
    signal_tree(attempt.job, attempt.job, signal);
  }
  if (signal == SIGKILL || attempt.job == 0) {
    folder.signal_holders(attempt.name, signal);
  }
}

}  // namespace

AttemptStart LiveAttempt::start() const {
  return {name.job, name.attempt, job, cgroup != nullptr ? cgroup->name() : std::string()};
}

void signal_attempt(const LiveAttempt& attempt, const AttemptFolder& folder, int signal) {
  if (attempt.shim_gone) {
    signal_without_shim(attempt, folder, signal);
  } else {
    ask_shim(attempt.process.get(), signal, attempt.serial);
  }
}

}  // namespace berth
