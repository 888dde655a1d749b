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

#include "cli/compat/schedule_state.h"
#include "cli/toolkit/clock.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "exec/job_processes.h"
#include "gpu/locks/lock_folder.h"
#include "gpu/visibility.h"

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
  return descriptor && std::count(users.begin(), users.end(), holder.pid) > 0 &&
         ::stat(fmt::format("/proc/{}", holder.pid).c_str(), &process) == 0 &&
         process.st_uid == holder.uid &&
         ::syscall(SYS_pidfd_send_signal, descriptor.get(), SIGHUP, nullptr, 0) == 0;
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

void print_schedule_status() {
  Table table;
  table.column("USER");
  table.column("GPU");
  table.column("TASK");
  table.column("PID", Align::Right);
  table.column("START");
  for (const LockHolder& holder : list_lock_holders(lock_root())) {
    table.row({printable(user_name(holder.uid)), printable(holder.device), printable(holder.task),
               std::to_string(holder.pid), local_time(static_cast<double>(holder.started))});
  }
  for (const std::string& name : read_schedule_state().closed) {
    table.row({"-", name, "closed by schedule -i", "-", "-"});
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
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
      const std::string files =
          fmt::format("{}/{}", lock_root(), lock_prefix(lock_key((*devices)->list()[place])));
      for (const LockHolder& holder : all) {
        if (holder.path.starts_with(files)) {
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
