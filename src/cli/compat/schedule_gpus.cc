#include "cli/compat/schedule_gpus.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "cli/compat/schedule_state.h"
#include "cli/toolkit/clock.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "exec/job_processes.h"
#include "gpu/locks/lock_folder.h"
#include "gpu/visibility.h"
#include "run/run_halt.h"

namespace berth {
namespace {

constexpr std::uint32_t kUsualGpus = 4;

std::string numbers_below(std::uint32_t total) {
  std::string list;
  for (std::uint32_t i = 0; i < total; ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ",", i);
  }
  return list;
}

/// Asks the call to end its task and itself. What its file says is not trusted further than that
/// the process has that file open and is the same user's: root must not be led to end somebody
/// else.
bool end_holder(const LockHolder& holder) {
  struct stat process {};
  const std::vector<pid_t> users = holders(holder.path);
  const Fd descriptor(static_cast<int>(::syscall(SYS_pidfd_open, holder.pid, 0)));
  // As SIGTERM, which a call under nohup heeds, too.
  siginfo_t end{};
  end.si_signo = SIGTERM;
  end.si_code = SI_QUEUE;
  end.si_pid = ::getpid();
  end.si_uid = ::getuid();
  end.si_value.sival_int = kEndAtOnce;
  return descriptor && std::count(users.begin(), users.end(), holder.pid) > 0 &&
         ::stat(fmt::format("/proc/{}", holder.pid).c_str(), &process) == 0 &&
         process.st_uid == holder.uid &&
         ::syscall(SYS_pidfd_send_signal, descriptor.get(), SIGTERM, &end, 0) == 0;
}

Result<void> release_from(const LockHolder& holder, const std::string& gpu) {
  if (holder.uid != ::geteuid() && ::geteuid() != 0) {
    return fail(ErrorCode::Refused,
                fmt::format("GPU {} is in use by {}: only {} or root can release it", gpu,
                            describe(holder), user_name(holder.uid)));
  }
  if (holder.kind != "schedule") {
    return fail(ErrorCode::Refused,
                fmt::format("GPU {} is in use by {}: end its job there{}", gpu, describe(holder),
                            holder.kind == "daemon" ? " (berth kill)" : ""));
  }
  if (!end_holder(holder)) {
    return fail(ErrorCode::Refused,
                fmt::format("GPU {} was taken by {}, which is gone: it is free once what is left "
                            "of the task has ended",
                            gpu, describe(holder)));
  }
  fmt::print("GPU {}: asked {} to end\n", gpu, printable(describe(holder)));
  return {};
}

}  // namespace

Result<std::unique_ptr<Devices>> open_schedule_gpus() {
  if (const char* named = std::getenv("BERTH_GPUS"); named != nullptr && *named != '\0') {
    return open_devices(named);
  }
  if (const ScheduleState state = read_schedule_state(); state.total > 0) {
    return open_devices(numbers_below(state.total));
  }
  Result<std::unique_ptr<Devices>> shown = open_devices("auto");
  return shown ? std::move(shown) : open_devices(numbers_below(kUsualGpus));
}

namespace {

bool is_held(const DeviceInfo& device, const std::vector<LockHolder>& holders) {
  const std::string files = fmt::format("{}/{}", lock_root(), lock_prefix(lock_key(device)));
  return std::any_of(holders.begin(), holders.end(),
                     [&](const LockHolder& holder) { return holder.path.starts_with(files); });
}

/// In the words that scripts know.
std::string describe_free(const Devices& devices, const std::vector<LockHolder>& holders,
                          const std::set<std::string>& closed) {
  std::string text;
  for (const DeviceInfo& device : devices.list()) {
    if (!closed.contains(device.spec.name) && !is_held(device, holders)) {
      text += fmt::format("GPU {}\n", printable(device.spec.name));
    }
  }
  return text.empty() ? "No GPU available.\n" : "Free GPU:\n---------\n" + text;
}

}  // namespace

Result<void> print_schedule_status() {
  const Result<std::unique_ptr<Devices>> devices = open_schedule_gpus();
  if (!devices) {
    return Failure(devices.error());
  }
  const std::vector<LockHolder> holders = list_lock_holders(lock_root());
  const std::set<std::string> closed = read_schedule_state().closed;
  Table table;
  table.column("USER");
  table.column("GPU");
  table.column("TASK");
  table.column("PID", Align::Right);
  table.column("START");
  for (const LockHolder& holder : holders) {
    table.row({printable(user_name(holder.uid)), printable(holder.device), printable(holder.task),
               std::to_string(holder.pid), local_time(static_cast<double>(holder.started))});
  }
  for (const std::string& name : closed) {
    table.row({"-", name, "closed by schedule -i", "-", "-"});
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
  std::fputs(("\n" + describe_free(**devices, holders, closed)).c_str(), stdout);
  std::fflush(stdout);  // a task that follows writes to it, too
  return {};
}

Result<void> release_schedule_gpus(const std::vector<std::string>& names) {
  const Result<std::unique_ptr<Devices>> devices = open_schedule_gpus();
  if (!devices) {
    return Failure(devices.error());
  }
  // Before any is opened: whoever has waited for that is not to be ended.
  const std::vector<LockHolder> all = list_lock_holders(lock_root());
  const Result<std::vector<std::string>> opened = open_closed_gpus(names);
  if (!opened) {
    return Failure(opened.error());
  }
  Result<void> problem;
  for (const std::string& name : names) {
    const std::vector<std::size_t> places = find_devices(name, (*devices)->list());
    if (places.empty()) {
      return fail(ErrorCode::NotFound, fmt::format("there is no GPU {}", name));
    }
    if (std::count(opened->begin(), opened->end(), name) > 0) {
      fmt::print("GPU {} is open again\n", name);
      continue;
    }
    bool held = false;
    for (const std::size_t place : places) {
      for (const LockHolder& holder : all) {
        if (is_held((*devices)->list()[place], {holder})) {
          held = true;
          if (const Result<void> done = release_from(holder, name); !done) {
            problem = done;
          }
        }
      }
    }
    if (!held) {
      fmt::print("GPU {} is free already\n", name);
    }
  }
  return problem;
}

}  // namespace berth
