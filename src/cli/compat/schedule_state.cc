#include "cli/compat/schedule_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/units.h"
#include "gpu/locks/lock_folder.h"
#include "gpu/visibility.h"

namespace berth {
namespace {

constexpr int kTurns = 100;
constexpr useconds_t kTurn = 20'000;  // microseconds

std::string state_path() { return lock_root() + "/.berth-schedule"; }

/// "5\n3 4\n": the total, then the closed ones. Any user may write the file, so it may say
/// anything.
ScheduleState parse(std::string_view text) {
  ScheduleState state;
  const std::size_t end = std::min(text.find('\n'), text.size());
  const Result<std::int64_t> total = parse_integer(text.substr(0, end), "the total");
  if (!total || *total < 1 || *total > kMostScheduleGpus) {
    return state;
  }
  state.total = static_cast<std::uint32_t>(*total);
  for (const std::string_view name : split_ids(text.substr(std::min(end + 1, text.size())))) {
    if (name.find_first_not_of("0123456789") == name.npos) {
      state.closed.emplace(name);
    }
  }
  return state;
}

ScheduleState read_from(int file) {
  char text[8192];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  return parse({text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
}

/// Overwritten in place: in a folder for everybody one user cannot replace another's file.
Result<void> write_to(int file, const ScheduleState& state) {
  const std::string text = fmt::format("{}\n{}\n", state.total, fmt::join(state.closed, " "));
  const auto size = static_cast<ssize_t>(text.size());
  if (::pwrite(file, text.data(), text.size(), 0) != size || ::ftruncate(file, size) != 0) {
    return fail_errno(fmt::format("cannot write {}", state_path()), errno);
  }
  return {};
}

/// Those who write it take turns; any user may be one, so nobody waits for ever. Readers do not
/// wait: what is there is short, and nonsense counts as nothing.
Result<void> lock_for_writing(int file) {
  for (int i = 0; ::flock(file, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail_errno(fmt::format("cannot lock {}", state_path()), errno);
    }
    if (i == kTurns) {
      struct stat info {};
      (void)::fstat(file, &info);
      const std::vector<FileLocker> lockers = find_lockers(info);
      return fail(ErrorCode::Unavailable,
                  lockers.empty()
                      ? fmt::format("others are writing {}: try again", state_path())
                      : fmt::format("process {} of {} keeps {} locked", lockers.front().pid,
                                    user_name(lockers.front().uid), state_path()));
    }
    ::usleep(kTurn);
  }
  return {};
}

/// The shared file, made where it is missing, locked for whoever writes it.
Result<Fd> open_for_writing() {
  if (const Result<Fd> root = open_lock_folder(lock_root()); !root) {
    return Failure(root.error());
  }
  Result<Fd> file = open_shared_file(state_path(), O_RDWR, 0666);
  if (!file) {
    return file;
  }
  if (const Result<void> locked = lock_for_writing(file->get()); !locked) {
    return Failure(locked.error());
  }
  return file;
}

}  // namespace

ScheduleState read_schedule_state() {
  const Fd file(::open(state_path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file ? read_from(file.get()) : ScheduleState();
}

Result<void> set_schedule_state(const ScheduleState& state) {
  const Result<Fd> file = open_for_writing();
  if (!file) {
    return Failure(file.error());
  }
  return write_to(file->get(), state);
}

Result<std::vector<std::string>> open_closed_gpus(const std::vector<std::string>& names) {
  std::vector<std::string> opened;
  if (::access(state_path().c_str(), F_OK) != 0) {
    return opened;
  }
  const Result<Fd> file = open_for_writing();
  if (!file) {
    return Failure(file.error());
  }
  ScheduleState state = read_from(file->get());
  for (const std::string& name : names) {
    if (state.closed.erase(name) > 0) {
      opened.push_back(name);
    }
  }
  if (!opened.empty()) {
    if (const Result<void> written = write_to(file->get(), state); !written) {
      return Failure(written.error());
    }
  }
  return opened;
}

Fd watch_schedule_state() {
  Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch || ::inotify_add_watch(watch.get(), state_path().c_str(), IN_CLOSE_WRITE) < 0) {
    return {};
  }
  return watch;
}

void drain_watch(int watch) {
  char events[4096];
  while (::read(watch, events, sizeof events) > 0) {
  }
}

}  // namespace berth
