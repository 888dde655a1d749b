#include "exec/shim.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/failpoint.h"
#include "exec/cgroup.h"
#include "exec/family.h"
#include "exec/launcher.h"
#include "exec/process_identity.h"
#include "exec/shim_child.h"
#include "exec/spawn.h"

namespace berth {
namespace {

std::int64_t wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// The groups of a user, asked before anything of the attempt exists: a directory server may be slow.
std::optional<UserIdentity> look_up(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  if (entry == nullptr) {
    return std::nullopt;
  }
  UserIdentity identity{user, entry->pw_gid, {}};
  int count = 64;
  identity.groups.resize(static_cast<std::size_t>(count));
  while (::getgrouplist(entry->pw_name, entry->pw_gid, identity.groups.data(), &count) < 0) {
    identity.groups.resize(static_cast<std::size_t>(count));
  }
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

class Shim {
 public:
  Shim(ShimRequest request, const ProcessIdentity& self, const std::string& boot_id)
      : request_(std::move(request)),
        setup_({self, {}, boot_id, request_.cgroup}),
        file_(record_name(request_.name)) {}

  void run() {
    prepare_user();
    if (const int error = create_file()) {
      tell(error == EEXIST ? ShimMessage::Kind::Exists : ShimMessage::Kind::Failed, 0, error);
      return;
    }
    (void)BERTH_FAILPOINT("shim.after_create");
    if (start()) {
      (void)BERTH_FAILPOINT("shim.after_spawn");
      tell(ShimMessage::Kind::Started, job_, 0);
      leave_nursery();
      (void)BERTH_FAILPOINT("shim.after_start");
      wait_for_job();
      (void)BERTH_FAILPOINT("shim.after_job");
      end_leftovers();
    } else {
      end_.ended_at = wall_clock();
      leave_nursery();
    }
    write_end();
    (void)BERTH_FAILPOINT("shim.after_end");
  }

 private:
  void prepare_user() {
    if (request_.user == ::geteuid()) {
      return;
    }
    setup_.become = look_up(request_.user);
    if (!setup_.become) {
      end_ = {127, 0, EINVAL, StartStep::User, 0};
    }
  }

  /// Makes the file that only one shim can make, and locks it. Returns an errno.
  int create_file() {
    (void)BERTH_FAILPOINT("shim.before_create");
    if (const int error = BERTH_FAILPOINT("shim.create")) {
      return error;
    }
    record_ = Fd(::openat(kFolderFd, file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!record_) {
      return errno;
    }
    lock_ = Fd(::openat(kFolderFd, file_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock_ || ::flock(lock_.get(), LOCK_EX) != 0) {
      const int error = errno;
      ::unlinkat(kFolderFd, file_.c_str(), 0);
      return error;
    }
    return 0;
  }

  bool start() {
    if (end_.start_error != 0) {
      return false;
    }
    if (request_.cgroup[0] != '\0') {
      cgroup_ = Cgroup::open(request_.cgroup);
    }
    setup_.tick_length = nanoseconds_per_tick();
    setup_.record_fd = record_.get();
    setup_.lock_fd = lock_.get();
    setup_.directory = request_.directory;
    setup_.stdout_path = request_.stdout_path;
    setup_.stderr_path = request_.stderr_path;
    plan_.path = "/bin/sh";
    plan_.arguments = {const_cast<char*>("sh"), const_cast<char*>("-c"), request_.command, nullptr};
    plan_.environment = std::move(request_.environment);
    plan_.prepare = set_up_child;
    plan_.prepare_argument = &setup_;
    setup_.record.born_after(current_tick());
    Result<pid_t> pid = spawn(plan_, stack_, cgroup_ != nullptr ? cgroup_->directory_fd() : -1);
    if (!pid && cgroup_ != nullptr) {
      pid = spawn(plan_, stack_, -1);
    }
    if (!pid) {
      end_ = {127, 0, EAGAIN, StartStep::Fork, 0};
      return false;
    }
    job_ = *pid;
    return true;
  }

  void tell(ShimMessage::Kind kind, pid_t pid, int error) {
    ShimMessage message;
    message.kind = kind;
    message.serial = request_.serial;
    message.pid = pid;
    message.error = error;
    message.step = error != 0 ? StartStep::Record : StartStep::None;
    (void)send_message(kMessagesFd, message);
  }

  /// From here on the folder tells all there is to know. The lock goes first: when the daemon sees
  /// the last of its message socket's writers go, the lock is free.
  void leave_nursery() {
    ::close(kLauncherLockFd);
    ::close(kMessagesFd);
    record_.reset();
  }

  void wait_for_job() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, shim_signal()}) {
      ::sigaddset(&wanted, number);
    }
    while (job_ != 0) {
      siginfo_t info{};
      const int number = ::sigwaitinfo(&wanted, &info);
      if (number == SIGCHLD) {
        reap();
      } else if (number == shim_signal()) {
        pass_on(info.si_value.sival_int);
      } else if (number > 0) {
        pass_on(SIGTERM);
      }
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; job_ != 0 && (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == job_) {
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
  }

  void pass_on(int number) {
    if (number <= 0 || number >= NSIG) {
      return;
    }
    if (number == SIGKILL && cgroup_ != nullptr) {
      cgroup_->kill();
    }
    signal_tree(::getpid(), job_, number);
    if (number == SIGSTOP || number == SIGCONT) {
      paused_ = number == SIGSTOP;
    } else if (number == SIGTERM && paused_) {
      // A stopped process would not see it.
      paused_ = false;
      signal_tree(::getpid(), job_, SIGCONT);
    }
  }

  /// Every descendant of the job is a child of this process, or below one: it adopts all.
  void end_leftovers() {
    for (;;) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid < 0 && errno == ECHILD) {
        return;
      }
      if (pid != 0) {
        continue;
      }
      if (cgroup_ != nullptr) {
        cgroup_->kill();
      }
      if (!signal_tree(::getpid(), 0, SIGKILL) && ::waitpid(-1, nullptr, WNOHANG) == 0) {
        // Only processes that we may not signal, such as those of sudo: they are on their own.
        return;
      }
      ::waitpid(-1, nullptr, 0);
    }
  }

  /// Whatever stands in its way, the end is written or nobody is told one. Meanwhile the attempt
  /// counts as running.
  void write_end() {
    const std::string line = format_end_record(end_);
    constexpr long kLongestPause = 5'000'000'000;
    for (long pause = 10'000'000; !try_write_end(line); pause = std::min(2 * pause, kLongestPause)) {
      const timespec time{pause / 1'000'000'000, pause % 1'000'000'000};
      ::nanosleep(&time, nullptr);
    }
  }

  bool try_write_end(const std::string& line) {
    // A living daemon has the end in its own journal within moments. Only without one does this
    // record have to outlast a loss of power; waiting for the disk would cost more than the job.
    pollfd daemon{kDaemonFd, POLLIN, 0};
    const bool alone = ::poll(&daemon, 1, 0) != 0;
    const std::string temporary = file_ + ".tmp";
    const std::string name = file_ + ".exit";
    const Fd file(::openat(kFolderFd, temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                           0600));
    if (!file || BERTH_FAILPOINT("shim.write_end") != 0 ||
        ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
        (alone && ::fsync(file.get()) != 0)) {
      return false;
    }
    (void)BERTH_FAILPOINT("shim.before_rename");
    if (::renameat(kFolderFd, temporary.c_str(), kFolderFd, name.c_str()) != 0) {
      return false;
    }
    if (alone) {
      ::fsync(kFolderFd);
    }
    return true;
  }

  ShimRequest request_;
  ChildSetup setup_;
  std::string file_;
  Fd record_;
  Fd lock_;
  SpawnPlan plan_;
  SpawnStack stack_;
  std::unique_ptr<Cgroup> cgroup_;
  pid_t job_ = 0;  // 0 before it is started and once it has ended
  bool paused_ = false;
  EndRecord end_;
};

}  // namespace

int shim_signal() { return SIGRTMIN; }

void run_shim(ShimRequest request, std::uint64_t first_tick, const std::string& boot_id) {
  ::close(kRequestsFd);
  ::signal(SIGCHLD, SIG_DFL);
  ::setsid();
  ::prctl(PR_SET_NAME, "berth-shim");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Shim shim(std::move(request), {::getpid(), first_tick, current_tick()}, boot_id);
  shim.run();
  ::_exit(0);
}

}  // namespace berth
