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
  std::string gpus = "auto";                    // as --gpus
  std::string policy;                           // empty: as it was, or `priority`
  std::optional<Placement> placement;           // none: as it was, or `pack`
  Bytes buffer = DeviceTable::Limits{}.buffer;  // kept free on a shared device
  bool enforce_claims = false;
  std::string listen;         // HOST:PORT for TCP; empty: none
  bool force_listen = false;  // also beyond this machine, in the clear
  bool everyone = false;      // other users of the machine may connect, too
  bool keep_private = false;  // and see little of each other's jobs
  FairUse::Limits per_user;   // of those
};

/// Starts one in the background and returns when it answers. One that runs already is an error;
/// one that somebody else is just starting is waited for first.
Result<void> start_daemon(const DaemonOptions& options);

/// Held by the one daemon of this home as long as it lives.
Result<Fd> take_daemon_lock(const std::string& folder);
/// The daemon that holds it, from its first moments on; 0 when there is none.
pid_t daemon_of(const std::string& folder);

/// What clients over TCP must show; made when there is none yet, for this user alone.
Result<std::string> daemon_token(const std::string& folder);

/// Runs the daemon on this thread until it is told to stop; `ready_fd` (-1: none) is told when it
/// answers, or why it cannot. The exit code.
int run_daemon(const DaemonOptions& options, int ready_fd);

}  // namespace berth
