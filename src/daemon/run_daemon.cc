// A daemon from its beginning to its end, in this process.
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "daemon/daemon.h"

namespace berth {

int run_daemon(const DaemonOptions& options, int ready_fd) {
  ::signal(SIGPIPE, SIG_IGN);
  Fd ready(ready_fd);
  const Result<std::unique_ptr<Daemon>> daemon = Daemon::make(options);
  const std::string answer = daemon ? "ok" : daemon.error().message;
  if (ready) {
    (void)!::write(ready.get(), answer.data(), answer.size());
  }
  if (!daemon) {
    std::fprintf(stderr, "berth daemon: %s\n", answer.c_str());
    return exit_code(daemon.error().code);
  }
  ready.reset();
  (*daemon)->run();
  return 0;
}

}  // namespace berth
