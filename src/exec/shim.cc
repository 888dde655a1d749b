#include "exec/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/failpoint.h"
#include "exec/job_processes.h"
#include "exec/launcher.h"
#include "exec/process_identity.h"
#include "exec/raw_syscall.h"

namespace berth {
namespace {

/// The kernel's signal sets are one word.
using SignalSet = std::uint64_t;
constexpr SignalSet with(int signal) { return SignalSet{1} << (signal - 1); }

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  raw_syscall(SYS_clock_gettime, clock, raw_address(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::int64_t wall_clock() { return static_cast<std::int64_t>(nanoseconds_of(CLOCK_REALTIME)); }

pid_t raw_wait(int* status, int options) {
  return static_cast<pid_t>(raw_syscall(SYS_wait4, -1, raw_address(status), options, 0));
}

int raw_openat(const char* file, int flags) {
  constexpr long kMode = 0600;
  return static_cast<int>(
      raw_syscall(SYS_openat, kFolderFd, raw_address(file), flags | O_CLOEXEC, kMode));
}

void raw_close(int fd) { raw_syscall(SYS_close, fd); }

constexpr long kFirstPause = 10'000'000;  // nanoseconds

bool is_deleted(int file) {
  struct stat found {};
  return ::fstat(file, &found) == 0 && found.st_nlink == 0;
}

bool daemon_is_gone() {
  pollfd daemon{kDaemonFd, POLLIN, 0};
  const timespec at_once{};
  return raw_syscall(SYS_ppoll, raw_address(&daemon), 1, raw_address(&at_once), 0) != 0;
}

}  // namespace

int shim_signal() { return SIGRTMIN; }

namespace {

/// In the value of a request: the signal in the lowest byte, above it the mark of an attempt. No
/// mark: any attempt.
constexpr unsigned kSignalBits = 8;
unsigned mark_of(std::uint64_t serial) {
  constexpr std::uint64_t kMarks = (std::uint64_t{1} << 24) - 1;
  return serial == 0 ? 0 : static_cast<unsigned>(serial % kMarks + 1);
}

}  // namespace

void ask_shim(int shim, int signal, std::uint64_t serial) {
  siginfo_t info{};
  info.si_signo = shim_signal();
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int =
      static_cast<int>(mark_of(serial) << kSignalBits | static_cast<unsigned>(signal));
  ::syscall(SYS_pidfd_send_signal, shim, shim_signal(), &info, 0);
}

Shim::Shim(char* bytes, const ShimTools& tools)
    : request_(decode_request(bytes)),
      stack_(tools.stack),
      file_(record_name(request_.name)),
      end_file_(file_ + ".exit"),
      setup_(request_.name, tools.boot_id, request_.cgroup, tools.limits) {
  setup_.tick_length = nanoseconds_per_tick();
  setup_.directory = request_.directory;
  setup_.stdout_path = request_.stdout_path;
  setup_.stderr_path = request_.stderr_path;
  device_locks_.reserve(request_.locks.size());
  plan_.path = "/bin/sh";
  plan_.arguments = {const_cast<char*>("sh"), const_cast<char*>("-c"), request_.command, nullptr};
  plan_.environment = std::move(request_.environment);
  plan_.prepare = set_up_child;
  plan_.prepare_argument = &setup_;
}

bool Shim::run(const ProcessIdentity& self, const Nursery& nursery) noexcept {
  nursery_ = nursery;
  setup_.record.set_shim(self);
  look_up_user();
  if (const int error = lock_devices()) {
    tell(ShimMessage::Kind::Failed, 0, error, StartStep::Device);
    raw_syscall(SYS_exit_group, 0);
  }
  long pause = kFirstPause;
  while (const int error = create_file()) {
    if (!wait_for_room(error, pause)) {
      tell(error == EEXIST ? ShimMessage::Kind::Exists : ShimMessage::Kind::Failed, 0, error,
           StartStep::Record);
      raw_syscall(SYS_exit_group, 0);
    }
  }
  (void)BERTH_FAILPOINT("shim.after_create");
  bool deserted = true;
  if (start()) {
    (void)BERTH_FAILPOINT("shim.after_spawn");
    tell(ShimMessage::Kind::Started, job_, 0);
    leave_nursery();
    (void)BERTH_FAILPOINT("shim.after_start");
    wait_for_job();
    (void)BERTH_FAILPOINT("shim.after_job");
    deserted = end_leftovers();
  } else {
    end_.ended_at = wall_clock();
    leave_nursery();
  }
  const bool written = write_end();
  (void)BERTH_FAILPOINT("shim.after_end");
  close_files();
  return written && deserted && report();
}

/// Before anything of the attempt exists: a directory server may be slow.
void Shim::look_up_user() {
  if (request_.user == static_cast<uid_t>(raw_syscall(SYS_geteuid))) {
    return;
  }
  if (Result<UserIdentity> identity = find_user(request_.user)) {
    setup_.become = std::move(*identity);
  } else {
    end_ = {127, 0, EINVAL, StartStep::User, 0};
  }
}

/// Joins the daemon in its locks on the job's devices. Returns an errno.
int Shim::lock_devices() {
  (void)BERTH_FAILPOINT("shim.before_locks");
  for (const char* path : request_.locks) {
    const auto file =
        static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, raw_address(path),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
    const long failed = file < 0 ? file : raw_syscall(SYS_flock, file, LOCK_SH | LOCK_NB);
    if (failed < 0) {
      return static_cast<int>(-failed);
    }
    device_locks_.push_back(file);
  }
  setup_.device_locks = device_locks_.data();
  setup_.device_lock_count = static_cast<int>(device_locks_.size());
  // While the daemon lived it had them, so nobody else could come in between. A dead one's may have
  // gone to another berth before we got here: nothing is started then, and its successor asks anew.
  return request_.locks.empty() || !daemon_is_gone() ? 0 : EOWNERDEAD;
}

/// Makes the file that only one shim can make, and locks it. Returns an errno.
int Shim::create_file() {
  (void)BERTH_FAILPOINT("shim.before_create");
  if (const int error = BERTH_FAILPOINT("shim.create")) {
    return error;
  }
  long failed = take_spare_file();
  if (failed == -ENOENT) {
    failed = make_file();
  }
  if (record_ < 0 || failed == -EEXIST) {
    return static_cast<int>(-failed);
  }
  // An attempt that has ended has given its first name away.
  if (raw_syscall(SYS_faccessat, kFolderFd, raw_address(end_file_.c_str()), F_OK) == 0) {
    failed = -EEXIST;
  }
  if (failed < 0) {
    ::unlinkat(kFolderFd, file_.c_str(), 0);
    raw_close(record_);
    raw_close(lock_);
    return static_cast<int>(-failed);
  }
  return 0;
}

/// A new file, with all the room that it will need: what finds none later would be a job that has
/// failed, or one of which nobody hears.
long Shim::make_file() {
  record_ = raw_openat(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL);
  lock_ = record_ < 0 ? record_ : raw_openat(file_.c_str(), O_RDONLY);
  long failed = lock_ < 0 ? lock_ : raw_syscall(SYS_flock, lock_, LOCK_EX);
  const char blanks[256] = {};
  const auto size = static_cast<long>(setup_.record.size() + EndLine(file_, end_).size());
  for (long at = 0; failed >= 0 && at < size; at += failed) {
    failed = raw_syscall(SYS_pwrite64, record_, raw_address(blanks),
                         std::min<long>(size - at, sizeof blanks), at);
  }
  return std::min(failed, 0L);
}

bool Shim::wait_for_room(int error, long& pause) {
  constexpr int kWants[] = {ENOSPC, EDQUOT, EIO, EROFS, ENOMEM, ENFILE, EMFILE, EAGAIN};
  if (std::find(std::begin(kWants), std::end(kWants), error) == std::end(kWants)) {
    return false;
  }
  const SignalSet wanted = with(SIGTERM) | with(SIGINT) | with(request_signal_);
  const timespec time{pause / 1'000'000'000, pause % 1'000'000'000};
  // Shorter than a new daemon is patient: it waits for this one to be gone.
  constexpr long kLongestPause = 1'000'000'000;
  pause = std::min(2 * pause, kLongestPause);
  siginfo_t info{};
  const long signal = raw_syscall(SYS_rt_sigtimedwait, raw_address(&wanted), raw_address(&info),
                                  raw_address(&time), sizeof wanted);
  const int asked =
      signal == request_signal_ ? asked_signal(info.si_value.sival_int) : static_cast<int>(signal);
  if (asked == SIGTERM || asked == SIGINT || asked == SIGKILL) {
    tell(ShimMessage::Kind::Failed, 0, ECANCELED, StartStep::Record);
    raw_syscall(SYS_exit_group, 0);
  }
  if (daemon_is_gone()) {
    // Nothing tells of the attempt: its successor asks for it again.
    raw_syscall(SYS_exit_group, 0);
  }
  return true;
}

/// Gives the file of an attempt that is over the name of this one. What is in it is another's and
/// will not be believed. -ENOENT: there is none to be had.
long Shim::take_spare_file() {
  if (request_.spare_file[0] == '\0') {
    return -ENOENT;
  }
  record_ = raw_openat(request_.spare_file, O_WRONLY);
  lock_ = record_ < 0 ? -1 : raw_openat(request_.spare_file, O_RDONLY);
  long done = lock_ < 0 ? -ENOENT : raw_syscall(SYS_flock, lock_, LOCK_EX | LOCK_NB);
  if (done < 0) {
    // What is left of its job still holds the lock.
    ::unlinkat(kFolderFd, request_.spare_file, 0);
    done = -ENOENT;
  } else {
    done = raw_syscall(SYS_renameat2, kFolderFd, raw_address(request_.spare_file), kFolderFd,
                       raw_address(file_.c_str()), RENAME_NOREPLACE);
  }
  if (done < 0) {
    raw_close(record_);
    raw_close(lock_);
  }
  return done;
}

bool Shim::start() {
  if (end_.start_error != 0) {
    return false;
  }
  setup_.record_fd = record_;
  setup_.lock_fd = lock_;
  long cgroup = -1;
  if (request_.cgroup[0] != '\0') {
    cgroup = raw_syscall(SYS_openat, AT_FDCWD, raw_address(request_.cgroup),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  setup_.record.born_after(nanoseconds_of(CLOCK_BOOTTIME) / setup_.tick_length);
  long pid = spawn_masked(plan_, stack_, static_cast<int>(cgroup));
  if (pid < 0 && cgroup >= 0) {
    pid = spawn_masked(plan_, stack_, -1);
  }
  if (cgroup >= 0) {
    raw_close(static_cast<int>(cgroup));
  }
  if (pid < 0) {
    end_ = {127, 0, static_cast<int>(-pid), StartStep::Fork, 0};
    return false;
  }
  job_ = static_cast<pid_t>(pid);
  return true;
}

void Shim::tell(ShimMessage::Kind kind, pid_t pid, int error, StartStep step) {
  ShimMessage message;
  message.kind = kind;
  message.serial = request_.serial;
  message.pid = pid;
  message.error = error;
  message.step = step;
  // Blocks while the daemon is behind; fails when it is gone. Every signal is blocked, SIGPIPE too.
  raw_syscall(SYS_write, nursery_.messages, raw_address(&message), sizeof message);
}

/// From here on the folder tells all there is to know. The lock goes first: when the daemon sees
/// the last of its message socket's writers go, the lock is free.
void Shim::leave_nursery() {
  raw_close(nursery_.lock);
  if (nursery_.messages != nursery_.wire) {
    raw_close(nursery_.messages);
  }
}

/// Nothing of the attempt is held any longer: its file may serve another, and its devices too.
void Shim::close_files() {
  raw_close(record_);
  raw_close(lock_);
  for (const int lock : device_locks_) {
    raw_close(lock);
  }
}

/// On this shim's own wire. False when no daemon hears it.
bool Shim::say(ShimMessage& message) {
  message.serial = request_.serial;
  return nursery_.wire >= 0 && raw_syscall(SYS_write, nursery_.wire, raw_address(&message),
                                           sizeof message) == long{sizeof message};
}

/// False when no daemon hears it. The next one finds the record.
bool Shim::report() {
  ShimMessage message;
  message.kind = ShimMessage::Kind::Ended;
  message.end = end_;
  return say(message);
}

/// The job has stopped or goes on. Told once for each request: a job that stops itself over and
/// over does not keep the daemon busy.
void Shim::note_pause(int status) {
  if (tells_pause_ && WIFSTOPPED(status) == paused_) {
    tells_pause_ = false;
    ShimMessage message;
    message.kind = paused_ ? ShimMessage::Kind::Stopped : ShimMessage::Kind::Resumed;
    say(message);
  }
}

void Shim::wait_for_job() {
  const SignalSet wanted = with(SIGCHLD) | with(SIGTERM) | with(SIGINT) | with(request_signal_);
  while (job_ != 0) {
    siginfo_t info{};
    const long signal = raw_syscall(SYS_rt_sigtimedwait, raw_address(&wanted), raw_address(&info),
                                    0, sizeof wanted);
    if (signal == SIGCHLD) {
      reap();
    } else if (signal == request_signal_) {
      pass_on(asked_signal(info.si_value.sival_int));
    } else if (signal > 0) {
      pass_on(SIGTERM);
    }
  }
}

/// The signal that a request asks for; 0 when the request was meant for an earlier attempt.
int Shim::asked_signal(int value) const {
  const auto bits = static_cast<unsigned>(value);
  const unsigned mark = bits >> kSignalBits;
  return mark == 0 || mark == mark_of(request_.serial)
             ? static_cast<int>(bits & ((1U << kSignalBits) - 1))
             : 0;
}

void Shim::reap() {
  int status = 0;
  constexpr int kAll = WNOHANG | WUNTRACED | WCONTINUED;
  for (pid_t pid = 0; job_ != 0 && (pid = raw_wait(&status, kAll)) > 0;) {
    if (pid != job_) {
      continue;
    }
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      note_pause(status);
      continue;
    }
    job_ = 0;
    end_.ended_at = wall_clock();
    end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (plan_.error != 0) {
      end_.start_error = plan_.error;
      end_.start_step = setup_.failed;
    }
  }
}

void Shim::pass_on(int signal) {
  if (signal <= 0 || signal >= NSIG) {
    return;
  }
  if (cgroup_ == nullptr && request_.cgroup[0] != '\0') {
    cgroup_ = Cgroup::open(request_.cgroup);
  }
  if (signal == SIGKILL && cgroup_ != nullptr) {
    cgroup_->kill();
  }
  signal_tree(::getpid(), job_, signal);
  if (signal == SIGSTOP || signal == SIGCONT) {
    paused_ = signal == SIGSTOP;
    tells_pause_ = true;
  } else if (signal == SIGTERM && paused_) {
    // A stopped process would not see it.
    paused_ = false;
    signal_tree(::getpid(), job_, SIGCONT);
  }
}

/// Every descendant of the job is a child of this process, or below one: it adopts all. False when
/// some are left.
bool Shim::end_leftovers() {
  for (;;) {
    const pid_t pid = raw_wait(nullptr, WNOHANG);
    if (pid == -ECHILD) {
      return true;
    }
    if (pid != 0) {
      continue;
    }
    if (!signal_tree(::getpid(), 0, SIGKILL) && ::waitpid(-1, nullptr, WNOHANG) == 0) {
      // Only processes that we may not signal, such as those of sudo: they are on their own.
      return false;
    }
    ::waitpid(-1, nullptr, 0);
  }
}

/// Whatever stands in its way, the end is written or nobody is told one. Meanwhile the attempt
/// counts as running. Only when somebody has deleted its file there is nothing to wait for: false.
bool Shim::write_end() {
  const EndLine line(file_, end_);
  constexpr long kLongestPause = 5'000'000'000;
  for (long pause = kFirstPause; !try_write_end(line); pause = std::min(2 * pause, kLongestPause)) {
    if (is_deleted(record_)) {
      return false;
    }
    const timespec time{pause / 1'000'000'000, pause % 1'000'000'000};
    ::nanosleep(&time, nullptr);
  }
  return true;
}

bool Shim::try_write_end(const EndLine& line) {
  // Always at the same place, so that a second try mends what a first has torn.
  const auto size = static_cast<long>(line.size());
  if (BERTH_FAILPOINT("shim.write_end") != 0 ||
      raw_syscall(SYS_pwrite64, record_, raw_address(line.data()), size,
                  static_cast<long>(setup_.record.size())) != size) {
    return false;
  }
  // A living daemon has the end in its own journal within moments. Only without one does this
  // record have to outlast a loss of power; waiting for the disk would cost more than the job.
  const bool alone = daemon_is_gone();
  if (alone && ::fsync(record_) != 0) {
    return false;
  }
  (void)BERTH_FAILPOINT("shim.before_rename");
  if (raw_syscall(SYS_renameat2, kFolderFd, raw_address(file_.c_str()), kFolderFd,
                  raw_address(end_file_.c_str()), 0) < 0) {
    return false;
  }
  if (alone) {
    ::fsync(kFolderFd);
  }
  return true;
}

}  // namespace berth
