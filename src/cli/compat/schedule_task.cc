#include "cli/compat/schedule_task.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "cli/compat/schedule_gpus.h"
#include "cli/compat/schedule_state.h"
#include "cli/run/pass_input.h"
#include "cli/run/run_report.h"
#include "exec/direct_runner.h"
#include "gpu/visibility.h"
#include "run/run.h"

namespace berth {
namespace {

/// Tells the user what matters.
class ScheduleReporter final : public RunObserver {
 public:
  explicit ScheduleReporter(const ScheduleTask& task) : task_(task) {}

  void job_started(const JobEvent& job) override {
    started_ = job.time;
    for (const std::string& gpu : job.gpus) {
      gpus_ += (gpus_.empty() ? "cuda" : ",cuda") + gpu;
    }
    // The task leads a process group of its own.
    fmt::print("GPU: {}\nSCH PID: {}\nTASK PID: {}\nSCH PGID: {}\nTASK PGID: {}\n", gpus_,
               ::getpid(), job.pid, ::getpgrp(), job.pid);
    std::fflush(stdout);
  }

  void job_ended(const JobEvent& job, const JobEndEvent& end) override {
    ended_ = job.time;
    if (end.start_error != 0) {
      code_ = kCannotStart;
      warning(describe_end(end));
    } else {
      code_ = end.signal != 0 ? 128 + end.signal : end.exit_code;
    }
    if (task_.verbose) {
      std::fputs(account(end.runtime).c_str(), stdout);
    }
  }

  void job_output(JobId, bool, std::string_view) override {}
  void warning(std::string_view text) override { fmt::print(stderr, "schedule: {}\n", text); }
  void device_taken(std::string_view, const LockHolder&) override {}  // stalled() says enough

  void stalled(std::string_view why) override {
    if (!std::exchange(said_that_it_waits_, true)) {
      say_that_it_waits(why);
    }
  }
  void say_that_it_waits(std::string_view why) {
    warning(fmt::format("waiting: {} (schedule -s shows who has the GPUs)", why));
  }

  void interrupted(int level, std::uint64_t) override {
    warning(level == 1   ? "the task goes on; again ends it (TERM), a third time kills it (KILL)"
            : level == 2 ? "sent TERM to the task; again kills it (KILL)"
                         : "killed the task");
  }

  /// Nothing when the task never started.
  std::optional<int> code() const { return code_; }

 private:
  static constexpr int kCannotStart = 127;

  static std::string wall_time(double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    tm parts{};
    char text[32] = "";
    if (::localtime_r(&whole, &parts) != nullptr) {
      ::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    }
    return text;
  }

  std::string account(Duration runtime) const {
    return fmt::format(
        "task:       {}\ngpu:        {}\nstdout:     {}\nstderr:     {}\nstart:      {}\n"
        "end:        {}\ntotal time: {}\n",
        task_.command, gpus_, task_.out.empty() ? "standard output" : task_.out,
        task_.err.empty() ? "standard error" : task_.err, wall_time(started_), wall_time(ended_),
        format_duration(runtime));
  }

  const ScheduleTask& task_;
  std::string gpus_;
  double started_ = 0;
  double ended_ = 0;
  std::optional<int> code_;
  bool said_that_it_waits_ = false;
};

/// The number of a GPU: its name where that is one, else its place.
std::uint32_t number_of(const DeviceInfo& device, DeviceId place) {
  const Result<std::int64_t> number = parse_integer(device.spec.name, "");
  return number && *number >= 0 ? static_cast<std::uint32_t>(*number) : place.value;
}

/// A preferred GPU that does not exist is one that cannot be had: another will do.
enum class IfAbsent { Refuse, Omit };

Result<std::vector<std::string>> names_of(std::string_view ids, const Devices& devices,
                                          IfAbsent if_absent) {
  std::vector<std::string> names;
  for (const std::string_view id : split_ids(ids)) {
    const std::vector<std::size_t> places = find_devices(id, devices.list());
    const bool is_number = id.find_first_not_of("0123456789") == id.npos;
    if (places.empty() && (if_absent == IfAbsent::Refuse || !is_number)) {
      return fail(ErrorCode::NotFound, fmt::format("there is no GPU {}: there are {} of them", id,
                                                   devices.list().size()));
    }
    for (const std::size_t place : places) {
      names.push_back(devices.list()[place].spec.name);
    }
  }
  return names;
}

Result<Needs> needs_of(const ScheduleTask& task, const Devices& devices) {
  Needs needs;
  needs.gpus = task.gpus;
  Result<std::vector<std::string>> only = names_of(task.forced, devices, IfAbsent::Refuse);
  Result<std::vector<std::string>> prefer = names_of(task.preferred, devices, IfAbsent::Omit);
  if (!only || !prefer) {
    return Failure(only ? prefer.error() : only.error());
  }
  const std::size_t most = only->empty() ? devices.list().size() : only->size();
  if (task.gpus > most) {
    return fail(ErrorCode::Usage,
                fmt::format("the task wants {} GPUs, and there {} only {} that it may have{}",
                            task.gpus, most == 1 ? "is" : "are", most,
                            only->empty() ? " (schedule -i sets how many there are)" : ""));
  }
  needs.only = std::move(*only);
  needs.prefer = std::move(*prefer);
  return needs;
}

/// The file on which this user's calls with the same wish wait for each other. Nobody else can open
/// it, or they could keep all of them waiting. Nothing where another user has taken its name.
Result<Fd> open_turn(const std::string& path) {
  Fd turn(::open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  struct stat info {};
  if (!turn && errno != EACCES && errno != ELOOP && errno != EISDIR) {
    return fail_errno(fmt::format("cannot open {}", path), errno);
  }
  if (turn && (::fstat(turn.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
               info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)) {
    turn.reset();
  }
  return turn;
}

/// First come, first served, among calls of a user that want the same: the kernel lets those who
/// wait for a lock have it in turn. Calls with other wishes and other users' do not stand in their
/// way; between users the faster one has the device.
Result<Fd> wait_for_turn(const Needs& needs, const Devices& devices, ScheduleReporter& reporter) {
  std::string wish = fmt::format("{} of {};", needs.gpus, fmt::join(needs.only, ","));
  for (const DeviceInfo& device : devices.list()) {
    wish += lock_key(device) + ";";
  }
  const std::string path =
      fmt::format("{}/.berth-turn-{}-{}", lock_root(), ::geteuid(), escape_file_name(wish));
  Result<Fd> turn = open_turn(path);
  if (!turn || !*turn) {
    if (turn) {
      reporter.warning(
          fmt::format("{} is in the way, and not yours: calls may overtake each other", path));
    }
    return turn;
  }
  if (::flock(turn->get(), LOCK_EX | LOCK_NB) == 0) {
    return turn;
  }
  reporter.say_that_it_waits("others were here before");
  while (::flock(turn->get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return fail_errno(fmt::format("cannot wait for {}", path), errno);
    }
  }
  return turn;
}

/// Opened before the wait, so that a wrong path is told at once; emptied when the task starts. Both
/// streams may go to one file, so each appends.
Result<Fd> open_output(const std::string& path) {
  if (path.empty()) {
    return Fd();
  }
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  return file;
}

struct Outputs {
  Fd out;
  Fd err;
};

void adapt(Launch& launch, std::span<const DeviceId> devices, const ScheduleTask& task,
           const Devices& all, const Outputs& outputs) {
  std::string gpu;
  for (const DeviceId device : devices) {
    gpu += (gpu.empty() ? "cuda" : ",cuda") + all.list()[device.value].spec.name;
  }
  if (task.all_visible) {
    std::erase_if(launch.environment, [](const auto& variable) {
      return variable.first.find("VISIBLE_DEVICES") != std::string::npos;
    });
  }
  launch.environment.emplace_back("GPU", gpu);
  const DeviceId first = devices.front();
  launch.command = fill_in_number(task.command, number_of(all.list()[first.value], first));
  pass_input(launch);
  const auto redirect = [](const Fd& file, int& target) {
    if (file) {
      (void)!::ftruncate(file.get(), 0);
      target = file.get();
    }
  };
  redirect(outputs.out, launch.stdout_fd);
  redirect(outputs.err, launch.stderr_fd);
}

RunOptions options_for(const Needs& needs) {
  RunOptions options;
  options.policy = "fifo";
  options.defaults.needs = needs;
  options.grace = kForever;  // only the third Ctrl-C kills
  return options;
}

}  // namespace

std::string fill_in_number(std::string_view command, std::uint32_t gpu) {
  constexpr std::string_view kWord = "__num__";
  const std::string number = std::to_string(3600 + 100 * std::uint64_t{gpu});
  std::string filled;
  for (;;) {
    const std::size_t at = command.find(kWord);
    filled += command.substr(0, at);
    if (at == command.npos) {
      return filled;
    }
    filled += number;
    command.remove_prefix(at + kWord.size());
  }
}

Result<int> run_schedule_task(const ScheduleTask& task) {
  ::signal(SIGPIPE, SIG_IGN);
  Result<Fd> out = open_output(task.out);
  Result<Fd> err = open_output(task.err);
  if (!out || !err) {
    return Failure(out ? err.error() : out.error());
  }
  const Outputs outputs{std::move(*out), std::move(*err)};
  const Result<std::unique_ptr<Devices>> devices = open_schedule_gpus();
  if (!devices) {
    return Failure(devices.error());
  }
  const Result<Needs> needs = needs_of(task, **devices);
  if (!needs) {
    return Failure(needs.error());
  }
  const auto locks = DeviceLocks::open({"schedule", "", task.command}, (*devices)->list());
  if (!locks) {
    return Failure(locks.error());
  }
  auto runner = DirectRunner::make();
  if (!runner) {
    return Failure(runner.error());
  }
  ScheduleReporter reporter(task);
  Result<Fd> turn = wait_for_turn(*needs, **devices, reporter);
  if (!turn) {
    return Failure(turn.error());
  }
  RunOptions options = options_for(*needs);
  options.adapt = [&](Launch& launch, std::span<const DeviceId> leased) {
    adapt(launch, leased, task, **devices, outputs);
    turn->reset();  // it has its GPUs: the next in line may look for some
  };
  const Fd watch = watch_schedule_state();
  if (watch) {
    options.closed_devices_fd = watch.get();
    options.closed_devices = [&] {
      drain_watch(watch.get());
      return read_schedule_state().closed;
    };
  }
  Run run(options, **devices, locks->get(), **runner, reporter);
  const Result<RunSummary> summary = run.execute(Input::from_jobs({JobLine{0, task.command, {}}}));
  if (!summary) {
    return Failure(summary.error());
  }
  constexpr int kInterrupted = 130;
  return reporter.code().value_or(kInterrupted);
}

}  // namespace berth
