// An attempt that has not ended, as the daemon knows it, and how it is signalled: through its shim,
// or without one.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "exec/attempt_folder.h"
#include "exec/cgroup.h"
#include "exec/shim_runner.h"

namespace berth {

struct LiveAttempt {
  AttemptName name;
  std::string request;       // kept until the start is known, for another launcher
  std::vector<int> signals;  // for the shim, once there is one
  std::uint64_t serial = 0;  // in the request; 0 for one that another daemon asked for
  uid_t user = 0;
  Fd process;              // the shim, or the job when the shim is gone
  Fd wire;                 // of the shim, while it is open: then the end is told there
  bool passed_on = false;  // to a shim that had run others
  bool shim_gone = false;
  bool reap = false;  // orphans may have become our own children
  pid_t job = 0;
  std::unique_ptr<Cgroup> cgroup;

  AttemptStart start() const;
};

/// Signals the whole tree of an attempt that has a process.
void signal_attempt(const LiveAttempt& attempt, const AttemptFolder& folder, int signal);

}  // namespace berth
