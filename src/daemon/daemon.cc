// The turns of the daemon's loop.
#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/failpoint.h"

namespace berth {
namespace {

constexpr Duration kPauseLook = std::chrono::milliseconds(5);  // while a job stops or goes on
constexpr Duration kCommitRetry = std::chrono::seconds(1);

}  // namespace

Time Daemon::now() const {
  return Time(std::chrono::steady_clock::now().time_since_epoch() + to_wall_);
}

/// Since 1970. BERTH_CLOCK_OFFSET, in seconds, is for tests: a clock that is set without setting
/// one.
Duration Daemon::wall_clock() {
  const char* offset = std::getenv("BERTH_CLOCK_OFFSET");
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()) +
         std::chrono::seconds(offset == nullptr ? 0 : std::atoll(offset));
}

/// What others read off the wall clock, on the daemon's own. They differ once the first was set.
Time Daemon::from_wall(std::int64_t nanoseconds) const {
  return now() - (wall_clock() - Duration(nanoseconds));
}

void Daemon::run() {
  watch_signals();
  watch(runner_->event_fd(), "starts and ends of jobs", [this] { take_shim_events(); });
  watch(logs_.event_fd(), "output of jobs", [this] { logs_.files_changed(); });
  watch(files_->event_fd(), "files of the daemon", [this] { make_good(files_->take()); });
  watch(user_files_.event_fd(), "files of users", [this] { user_files_.take_answers(); });
  loop_.post([] {});  // a first turn, for what was restored
  for (const StagedJobs& staged : Staging(store_->staging())) {
    loop_.post([this, first = staged.first] { drop_staged(first); });  // half a submission
  }
  log_.write("the daemon {} has started as process {} for user {}{}{}", BERTH_VERSION, ::getpid(),
             ::getuid(), options_.everyone ? ", and for everyone" : "",
             listening_.empty() ? "" : ", and listens on " + listening_);
  loop_.run([this] { turn(); }, [this](Duration took) { end_turn(took); });
  driver_->mps().finish();  // those that jobs use stay, for the next daemon
  log_.write("the daemon has stopped");
}

void Daemon::end_turn(Duration took) {
  if (watchdog_.end_turn(took)) {
    log_.write("a turn took {:.3f} s, and nobody was served meanwhile: {}", to_seconds(took),
               Watchdog::describe(watchdog_.last()));
  }
}

void Daemon::watch_signals() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGTERM);
  ::sigaddset(&mask, SIGINT);
  ::sigaddset(&mask, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  loop_.watch(signals_.get(), [this] {
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) == ssize_t{sizeof signal}) {
      if (signal.ssi_signo == SIGUSR1) {
        // From a user whose clients cannot reach it: as if everything had gone.
        make_good({true, true, true});
      } else {
        loop_.stop();
      }
    }
  });
}

void Daemon::turn() {
  const Time at = now();
  whatif_.check(at);
  worker_.check();
  settle_pauses(at);
  settle_room(at);
  if (!next_turn_.empty()) {
    loop_.post([this] { go_on_with_long_work(); });
  }
  if (!commit_failed_) {
    const Watchdog::Mark mark = watchdog_.mark("decide");
    if (driver_->is_due(at)) {
      driver_->decide(at);
    }
    driver_->settle();
    if (driver_->memory().behind()) {
      loop_.post([] {});  // some claims at a time, so that others are served meanwhile
    }
  }
  const bool eventful = !effects_.empty() || !launches_.empty();
  if (!eventful && at < commit_due_) {
    settle_waiters();
    events_->flush();
    return set_alarm();
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.before_commit"));
  if (!commit()) {
    // Nothing is started or promised that is not on disk. Everything waits for room.
    loop_.set_alarm(kCommitRetry, [] {});
    return;
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.after_commit"));
  commit_due_ = kNever;
  const Watchdog::Mark mark = watchdog_.mark("start jobs and answer");
  // Devices wait for these; clients and old files for the others.
  for (const JobId job : std::exchange(launches_, {})) {
    start_shim(job);
  }
  for (const std::function<void()>& effect : std::exchange(effects_, {})) {
    effect();
  }
  settle_waiters();
  for (std::function<void()>& call : std::exchange(when_stored_, {})) {
    loop_.post(std::move(call));
  }
  events_->flush();
  logs_.expire(now());
  set_alarm();
}

bool Daemon::commit() {
  const Watchdog::Mark mark = watchdog_.mark("commit");
  const Result<void> committed = store_->commit();
  commit_failed_ = !committed;
  if (!committed) {
    commit_problem_ = committed.error().message;
    log_.write("{}; trying again", commit_problem_);
  }
  return !commit_failed_;
}

void Daemon::set_alarm() {
  const Time pauses = pausing_.empty() ? kNever : now() + kPauseLook;
  const Time wake = std::min({driver_->wake_at(), logs_.next_deadline(), commit_due_,
                              whatif_.deadline(), pauses, room_due_});
  loop_.set_alarm(wake == kNever ? kForever : std::max(Duration{}, wake - now()), [] {});
}

/// What the scheduler is told is written down, so that its decisions can be replayed.
void Daemon::journal(const JournalInput& input, Time at) {
  check(store_->append(at, input));
  commit_due_ = std::min(commit_due_, at + kCommitDelay);
  forecast_.outdate();
}

/// What clients say was checked before, and what the disk refuses commit() tells: the store refuses
/// a write only where this daemon's idea of the world is wrong. The next one begins with the truth,
/// and jobs go on meanwhile.
void Daemon::check(const Result<void>& stored) {
  if (!stored) {
    log_.write(
        "the records contradict what this daemon knows ({}): it ends here, and the next one "
        "takes up its jobs. Please report this",
        stored.error().message);
    std::abort();
  }
}

}  // namespace berth
