// `berth daemon log`: shows the daemon's decisions that no reply to a request reports.
#pragma once

#include <cstdint>

namespace berth {

struct DaemonLogView {
  std::int64_t lines = 20;  // how many of the last lines to print
  bool follow = false;      // also print new lines, until interrupted
  bool json = false;        // one object per line
};

/// Reads the log file, so it also works without a daemon. Returns the exit code.
int show_daemon_log(const DaemonLogView& view);

}  // namespace berth
