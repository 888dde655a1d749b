// Starting a daemon: in the background for a command that needs one, or in the foreground.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "core/device_table.h"
#include "daemon/fair_use.h"

namespace berth {

struct DaemonOptions {
  std::string gpus;                             // as --gpus; empty: as before, or `auto`
  std::string policy;                           // empty: as before, or `priority`
  std::string shadow;                           // see Shadow; empty: as before, `none`: none
  std::optional<Placement> placement;           // none: as before, or `idle`
  Bytes buffer = DeviceTable::Limits{}.buffer;  // kept free on a shared device
  bool enforce_claims = false;
  std::optional<double> oom_risk;  // none: as before, or 1 %
  std::string listen;              // HOST:PORT for TCP; empty: none
  bool force_listen = false;       // also beyond this machine, unencrypted
  bool everyone = false;           // other users of the machine may connect, too
  bool keep_private = false;       // and they see little of each other's jobs
  FairUse::Limits per_user;        // of those users
};

/// Starts a daemon in the background and returns when it answers. Fails if a daemon runs already.
/// If another process is just starting a daemon, waits for that first.
Result<void> start_daemon(const DaemonOptions& options);

/// Takes the lock that the one daemon of this folder holds as long as it lives.
Result<Fd> take_daemon_lock(const std::string& folder);
/// The process of the daemon that holds the lock, from its first moments on; 0 when there is none.
pid_t daemon_of(const std::string& folder);

/// The token that clients over TCP must show. It is made, for this user alone, if there is none
/// yet.
Result<std::string> daemon_token(const std::string& folder);

/// Runs the daemon on this thread until it is told to stop. `ready_fd` (-1: none) is told when the
/// daemon answers, or why it cannot. Returns the exit code.
int run_daemon(const DaemonOptions& options, int ready_fd);

}  // namespace berth
