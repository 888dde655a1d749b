#include "cluster/box_daemons.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <thread>

#include "cluster/look_at_box.h"

namespace berth {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);

}  // namespace

Result<void> BoxDaemons::by_systemd(const std::string& unit) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"systemctl", "daemon-reload"},
        {"systemctl", "enable", unit},
        {"systemctl", "restart", unit}}) {
    if (const Result<std::string> done = run_or_fail(commands_, words); !done) {
      return fail(done.error().code,
                  fmt::format("{} (journalctl -u {} says more)", done.error().message, unit));
    }
  }
  return {};
}

bool BoxDaemons::munge_works() {
  const Result<CommandOutput> credential = commands_.run({"munge", "-n"});
  if (!credential || !credential->ok()) {
    return false;
  }
  const Result<CommandOutput> read = commands_.run({"unmunge"}, credential->out);
  return read && read->ok();
}

Result<void> BoxDaemons::restart_munged() {
  if (systemd_) {
    if (const Result<void> started = by_systemd("munge"); !started) {
      return started;
    }
  } else {
    (void)commands_.run({"munged", "--stop"});  // there may be none
    if (const Result<std::string> made = run_or_fail(
            commands_, {"install", "-d", "-o", "munge", "-g", "munge", "-m", "755", "/run/munge"});
        !made) {
      return Failure(made.error());
    }
    if (const Result<std::string> started =
            run_or_fail(commands_, {"runuser", "-u", "munge", "--", "munged"});
        !started) {
      return Failure(started.error());
    }
  }
  for (int i = 0; i < 100; ++i) {
    if (munge_works()) {
      return {};
    }
    std::this_thread::sleep_for(kLook);
  }
  return fail(ErrorCode::Unavailable,
              fmt::format("munged does not answer; {} says why", places_.munged_log()));
}

Result<void> BoxDaemons::end_processes(const std::string& daemon) {
  for (const int pid : processes_of(daemon, places_)) {
    ::kill(pid, SIGTERM);
  }
  for (int i = 0; i < 400; ++i) {
    if (processes_of(daemon, places_).empty()) {
      return {};
    }
    std::this_thread::sleep_for(kLook);
  }
  return fail(ErrorCode::Unavailable, fmt::format("{} does not end", daemon));
}

Result<void> BoxDaemons::restart_slurmctld() {
  if (systemd_) {
    return by_systemd("slurmctld");
  }
  if (const Result<void> ended = end_processes("slurmctld"); !ended) {
    return ended;
  }
  const Result<std::string> started = run_or_fail(commands_, {"slurmctld"});
  return started ? Result<void>() : Failure(started.error());
}

Result<void> BoxDaemons::restart_slurmd(const std::vector<std::string>& words) {
  if (systemd_) {
    return by_systemd("slurmd");
  }
  if (const Result<void> ended = end_processes("slurmd"); !ended) {
    return ended;
  }
  std::vector<std::string> line = {"slurmd"};
  line.insert(line.end(), words.begin(), words.end());
  const Result<std::string> started = run_or_fail(commands_, line);
  return started ? Result<void>() : Failure(started.error());
}

Result<void> BoxDaemons::stop(const std::string& daemon) {
  if (systemd_) {
    const Result<std::string> stopped =
        run_or_fail(commands_, {"systemctl", "disable", "--now", daemon});
    return stopped ? Result<void>() : Failure(stopped.error());
  }
  return end_processes(daemon);
}

std::vector<std::string> BoxDaemons::start_lines(bool head,
                                                 const std::vector<std::string>& words) const {
  if (systemd_) {
    return {};
  }
  std::vector<std::string> lines = {"install -d -o munge -g munge /run/munge",
                                    "runuser -u munge -- munged"};
  if (head) {
    lines.emplace_back("slurmctld");
  }
  lines.push_back(fmt::format("slurmd{}{}", words.empty() ? "" : " ", fmt::join(words, " ")));
  return lines;
}

}  // namespace berth
