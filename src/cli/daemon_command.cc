// `berth daemon`: start, stop and ask the daemon.
#include <fmt/format.h>

#include <cstdio>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/daemon_client.h"
#include "cli/gpus_option.h"
#include "daemon/start.h"

namespace berth {
namespace {

int tell(std::string_view method, std::string_view target) {
  Result<HttpClient> daemon = connect_daemon(false);
  if (!daemon) {
    return report("berth daemon", daemon.error());
  }
  const Result<std::string> body = ask(*daemon, method, target);
  if (!body) {
    return report("berth daemon", body.error());
  }
  fmt::print("{}\n", *body);
  return 0;
}

}  // namespace

int daemon_main(Words words) {
  DaemonOptions options;
  std::string verb = "status";
  std::int64_t ready_fd = -1;
  bool json = false;
  Args args(
      "berth daemon [run | start | stop | status | pause | resume] [options]",
      "The daemon keeps the queue and runs its jobs. Commands that need it start it; `run` stays\n"
      "in the foreground, for systemd and containers. `pause` starts nothing more until `resume`.");
  args.positional("VERB", "run, start, stop, status (the default), pause or resume", 0, 1,
                  [&](std::string_view word) -> Result<void> {
                    verb = word;
                    return {};
                  });
  add_gpus_option(args, options.gpus);
  args.value("--policy", "NAME", "who goes first (default: priority)", options.policy);
  args.value("--ready-fd", "FD", "tell this descriptor when it answers", ready_fd);
  args.flag("--json", json, "status prints JSON in any case");
  args.example("berth daemon start --gpus 0,1");
  args.example("berth daemon status");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth daemon", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (verb == "run") {
    return run_daemon(options, static_cast<int>(ready_fd));
  }
  if (verb == "start") {
    const Result<void> started = start_daemon(options);
    return started ? 0 : report("berth daemon", started.error());
  }
  if (verb == "status") {
    return tell("GET", "/v1/status");
  }
  if (verb == "stop" || verb == "pause" || verb == "resume") {
    return tell("POST", "/v1/daemon/" + verb);
  }
  return report("berth daemon", Error{ErrorCode::Usage,
                                      fmt::format("unknown verb '{}' (--help lists them)", verb)});
}

}  // namespace berth
