// `berth daemon log`: what the daemon decided that no single request was told of.
#pragma once

#include <cstdint>

namespace berth {

struct DaemonLogView {
  std::int64_t lines = 20;  // the last so many
  bool follow = false;      // and what comes, until interrupted
  bool json = false;        // an object a line
};

/// Reads the file, so it works without a daemon, too. The exit code.
int show_daemon_log(const DaemonLogView& view);

}  // namespace berth
