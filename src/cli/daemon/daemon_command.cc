// `berth daemon`: start, stop and ask the daemon.
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "api/http_text.h"
#include "api/messages/status.h"
#include "base/fd.h"
#include "base/paths.h"
#include "cli/commands.h"
#include "cli/daemon/daemon_log_command.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/gpus_option.h"
#include "cli/toolkit/memory_options.h"
#include "cli/toolkit/model_option.h"
#include "cli/toolkit/table.h"
#include "daemon/start.h"
#include "policy/policies.h"

namespace berth {
namespace {

/// How much the daemon itself takes, and who of it.
void print_load(const LoadReport& load) {
  if (load.users.empty()) {
    return;  // an older daemon
  }
  fmt::print("memory {}, longest turn {:.0f} ms ({:.0f} ms in the last minute)\n",
             format_bytes(Bytes{static_cast<std::int64_t>(load.memory_bytes)}),
             1000 * load.longest_turn, 1000 * load.longest_turn_lately);
  if (load.slow_turns > 0) {
    fmt::print("{} {} took more than a second (berth daemon log); the longest: {}\n",
               load.slow_turns, load.slow_turns == 1 ? "turn" : "turns", load.longest_turn_did);
  }
  for (const UserLoad& user : load.users) {
    fmt::print(
        "{}: {} of {} connections, {} of {} event streams{}\n", user.user, user.goods.connections,
        user.goods.most_connections, user.goods.streams, user.goods.most_streams,
        user.jobs ? fmt::format(", {} of {} jobs", *user.jobs, user.most_jobs.value_or(0)) : "");
  }
  if (load.strangers && load.strangers->connections > 0) {
    fmt::print("without a token: {} of {} connections\n", load.strangers->connections,
               load.strangers->most_connections);
  }
}

void print_shadow(const StatusReply& status) {
  if (!status.shadow.empty()) {
    fmt::print("on paper: {}{}{}\n", status.shadow, status.shadow_report.empty() ? "" : "; ",
               status.shadow_report);
  }
}

void print_status(const StatusReply& status) {
  fmt::print("berth daemon {} in {}: policy {}, {} {}{}\n", status.pid, status.home, status.policy,
             status.gpus, status.gpus == 1 ? "GPU" : "GPUs",
             status.paused ? ", paused: it starts nothing" : "");
  if (!status.policy_trouble.empty()) {
    fmt::print("{}\n", status.policy_trouble);
  }
  print_shadow(status);
  if (status.oom_risk > 0) {  // an older daemon does not tell
    fmt::print("learned memory: {:.4g} % of jobs may use more than they claim (--oom-risk)\n",
               100 * status.oom_risk);
  }
  if (!status.listen.empty()) {
    fmt::print("listens on http://{} (token in {}/token)\n", status.listen, status.home);
  }
  std::string counts;
  for (const auto& [state, count] : status.jobs) {
    if (count != 0) {
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, state);
    }
  }
  fmt::print("jobs: {}\n", counts.empty() ? "none" : counts);
  print_load(status.load);
}

/// Prints the answer as JSON, or what `print` makes of it.
template <class Print>
int tell_status(const Result<std::string>& answer, bool json, const Print& print) {
  const Result<StatusReply> status = as_message(answer, parse_status_reply);
  if (!status) {
    return report("berth daemon", status.error());
  }
  if (json) {
    fmt::print("{}\n", *answer);
  } else {
    print(*status);
  }
  return 0;
}

/// Changes what is named, and tells what it is then.
int tell_policy(const DaemonOptions& options, bool json) {
  std::string changes;
  if (!options.policy.empty()) {
    changes += "&policy=" + percent_encode(options.policy);
  }
  if (options.placement) {
    changes += fmt::format("&placement={}", placement_name(*options.placement));
  }
  return tell_status(changes.empty()
                         ? ask_running_daemon("GET", "/v1/status")
                         : ask_running_daemon("POST", "/v1/daemon/policy?" + changes.substr(1)),
                     json, [](const StatusReply& status) {
                       fmt::print("policy {}, placement {}\n", status.policy, status.placement);
                     });
}

void print_stopped(const StatusReply& status) {
  const auto count = [&](const char* state) {
    const auto found = status.jobs.find(state);
    return found == status.jobs.end() ? 0 : found->second;
  };
  const std::uint64_t running = count("running") + count("starting");
  const std::uint64_t waiting = count("queued") + count("held");
  fmt::print("stopped{}{}\n",
             running > 0
                 ? fmt::format("; {} running {} on", running, running == 1 ? "job goes" : "jobs go")
                 : "",
             waiting > 0 ? fmt::format("; {} {} for the next daemon", waiting,
                                       waiting == 1 ? "job waits" : "jobs wait")
                         : "");
}

/// Returns when it is gone, so that whatever comes next finds its place free.
int stop_daemon(bool json) {
  constexpr int kPatience = 60'000;  // milliseconds
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return report("berth daemon", paths.error());
  }
  const pid_t daemon = daemon_of(paths->state);
  const Fd process(daemon > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0)) : -1);
  const Result<std::string> answer = ask_running_daemon("POST", "/v1/daemon/stop");
  if (!answer) {
    return report("berth daemon", answer.error());
  }
  pollfd ended{process.get(), POLLIN, 0};
  while (process && ::poll(&ended, 1, kPatience) < 0 && errno == EINTR) {
  }
  if (process && ended.revents == 0) {
    return report("berth daemon",
                  Error{ErrorCode::Timeout, fmt::format("process {} has been told to stop, but has "
                                                        "not ended yet",
                                                        daemon)});
  }
  return tell_status(answer, json, print_stopped);
}

}  // namespace

int daemon_main(Words words) {
  DaemonOptions options;
  std::string verb = "status";
  int words_given = 0;
  std::int64_t ready_fd = -1;
  bool json = false;
  Args args(
      "berth daemon [run | start | stop | status | pause | resume | policy | shadow | log] "
      "[options]",
      "The daemon keeps the queue and runs its jobs. Commands that need it start it; `run` stays\n"
      "in the foreground, for systemd and containers. `pause` starts nothing more until `resume`;\n"
      "`stop` leaves running jobs alone: the next daemon takes them up. `policy NAME` changes who\n"
      "goes first while it runs, and for the daemons after it; without a name it tells.\n"
      "`shadow NAME` lets a policy decide on paper beside it; without a name it tells what that\n"
      "would have saved on the last day. `log`\n"
      "shows what it decided about strangers, devices, locks and itself, also when it is down.");
  args.positional("VERB [NAME]",
                  "run, start, stop, status (the default), pause, resume, log, or policy or\n"
                  "shadow and a name",
                  0, 2, [&](std::string_view word) -> Result<void> {
                    (words_given++ == 0 ? verb : options.policy) = word;
                    return {};
                  });
  add_daemon_gpus_option(args, options.gpus);
  args.value("--policy", "NAME",
             wrap_words(fmt::format("who goes first (default: as before, or priority): {}",
                                    fmt::join(live_policy_names(), ", ")),
                        66),
             options.policy);
  args.value("--shadow", "NAME",
             "start: let this policy decide on paper, too, and tell once a day what it\n"
             "would have saved; none: no longer",
             options.shadow);
  SharingOptions sharing;
  sharing.declare(args);
  args.value("--listen", "HOST:PORT",
             "also take requests over TCP, each with the token that is in the\n"
             "file token of the state folder; port 0: any free one",
             options.listen);
  args.flag("--force-listen", options.force_listen,
            "listen beyond this machine, though anybody on the way can read along");
  args.flag("--everyone", options.everyone,
            "other users of this machine may connect, too, and queue their own\n"
            "jobs; only root can run those");
  args.flag("--private", options.keep_private,
            "with --everyone: others see of a job only its number, state, user,\n"
            "devices, times and needs");
  std::int64_t most_queued = static_cast<std::int64_t>(options.per_user.jobs);
  args.value("--most-queued-per-user", "N",
             "with --everyone: jobs of another user that may wait or run (default:\n"
             "100000)",
             most_queued);
  args.value("--most-bytes-per-user", "SIZE",
             "with --everyone: what those may take together (default: 256MiB)",
             options.per_user.bytes);
  DaemonLogView log;
  args.value("-n,--lines", "N", "log: how many of the last lines (default: 20)", log.lines);
  args.flag("-f,--follow", log.follow, "log: print what comes, too, until interrupted");
  args.value("--ready-fd", "FD", "tell this descriptor when it answers", ready_fd);
  args.flag("--json", json, "print JSON");
  args.example("berth daemon start --gpus 0,1");
  args.example("berth daemon status");
  args.example("berth daemon policy fair --placement spread");
  args.example("berth daemon run --listen 127.0.0.1:8800");
  args.example("berth daemon log -f");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth daemon", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  Result<std::string> packed = pack_policy(options.policy);
  if (!packed) {
    return report("berth daemon", packed.error());
  }
  options.policy = std::move(*packed);
  Result<std::string> shadow = pack_policy(options.shadow);
  if (!shadow) {
    return report("berth daemon", shadow.error());
  }
  options.shadow = std::move(*shadow);
  options.buffer = sharing.buffer;
  options.placement = sharing.placement;
  options.enforce_claims = sharing.enforce_claims;
  options.oom_risk = sharing.oom_risk;
  if (words_given > 1 && verb != "policy" && verb != "shadow") {
    return report("berth daemon", Error{ErrorCode::Usage, fmt::format("unexpected '{}' after {}",
                                                                      options.policy, verb)});
  }
  if (options.keep_private && !options.everyone) {
    return report(
        "berth daemon",
        Error{ErrorCode::Usage, "--private needs --everyone: it hides jobs from other users"});
  }
  if (most_queued < 0 || options.per_user.bytes < Bytes{}) {
    return report("berth daemon",
                  Error{ErrorCode::Usage, "the limits of a user cannot be negative"});
  }
  options.per_user.jobs = static_cast<std::uint64_t>(most_queued);
  if (verb == "log") {
    log.json = json;
    return show_daemon_log(log);
  }
  if (verb == "run") {
    return run_daemon(options, static_cast<int>(ready_fd));
  }
  if (verb == "start") {
    const Result<void> started = start_daemon(options);
    return started ? 0 : report("berth daemon", started.error());
  }
  if (verb == "status") {
    return tell_status(ask_running_daemon("GET", "/v1/status"), json, print_status);
  }
  if (verb == "stop") {
    return stop_daemon(json);
  }
  if (verb == "pause" || verb == "resume") {
    return tell_status(ask_running_daemon("POST", "/v1/daemon/" + verb), json, print_status);
  }
  if (verb == "shadow") {
    return tell_status(
        ask_running_daemon(
            "POST",
            "/v1/daemon/shadow" +
                (options.policy.empty() ? "" : "?policy=" + percent_encode(options.policy))),
        json, print_shadow);
  }
  if (verb == "policy") {
    return tell_policy(options, json);
  }
  return report("berth daemon", Error{ErrorCode::Usage,
                                      fmt::format("unknown verb '{}' (--help lists them)", verb)});
}

}  // namespace berth
