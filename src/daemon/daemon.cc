// The turns of the daemon's loop.
#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

namespace berth {
namespace {

constexpr Duration kCommitRetry = std::chrono::seconds(1);

}  // namespace

void Daemon::run() {
  const Fd signals = watch_signals();
  watch_everything();
  loop_.post([] {});  // a first turn, for what was restored
  requests_->drop_half_submissions();
  const std::string& listening = requests_->listening();
  state_.log().write("the daemon {} has started as process {} for user {}{}{}", BERTH_VERSION,
                     ::getpid(), ::getuid(), options_.everyone ? ", and for everyone" : "",
                     listening.empty() ? "" : ", and listens on " + listening);
  loop_.run([this] { turn(); }, [this](Duration took) { end_turn(took); });
  requests_->save();
  driver_->mps().finish();  // those that jobs use stay, for the next daemon
  state_.log().write("the daemon has stopped");
}

void Daemon::watch_everything() {
  host_->watch(runner_->event_fd(), "starts and ends of jobs",
               [this] { host_->take_shim_events(); });
  host_->watch(requests_->output_event_fd(), "output of jobs",
               [this] { requests_->output_changed(); });
  host_->watch(state_.files().event_fd(), "files of the daemon",
               [this] { make_good(state_.files().take()); });
  host_->watch(files_->users.event_fd(), "files of users",
               [this] { files_->users.take_answers(); });
}

Fd Daemon::watch_signals() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGTERM);
  ::sigaddset(&mask, SIGINT);
  ::sigaddset(&mask, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  Fd signals(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  loop_.watch(signals.get(), [this, fd = signals.get()] {
    signalfd_siginfo signal{};
    while (::read(fd, &signal, sizeof signal) == ssize_t{sizeof signal}) {
      if (signal.ssi_signo == SIGUSR1) {
        // From a user whose clients cannot reach it: as if everything had gone.
        make_good({true, true, true});
      } else {
        loop_.stop();
      }
    }
  });
  return signals;
}

void Daemon::make_good(const StateFiles::Gone& gone) {
  if (state_.make_good(gone, [this] { return requests_->listen_on_socket(); })) {
    turns_->commit_now();
  }
}

void Daemon::turn() {
  const Time at = clock_.now();
  requests_->begin_turn(at);
  for (const JobId job : files_->room.take_due(at)) {
    host_->start_shim(job);
  }
  turns_->resume_long_work();
  if (!turns_->stuck()) {
    decide(at);
    reports_->look_ahead(at);
    spill_->look(at);
  }
  if (!turns_->finish(at)) {
    // Nothing is started or promised that is not on disk. Everything waits for room.
    loop_.set_alarm(kCommitRetry, [] {});
    return;
  }
  requests_->end_turn();
  set_alarm();
}

void Daemon::decide(Time at) {
  const Watchdog::Mark mark = turns_->watchdog().mark("decide");
  if (driver_->is_due(at)) {
    driver_->decide(at);
  }
  driver_->settle();
  if (driver_->behind()) {
    loop_.post([] {});  // some claims and lengths at a time, so that others are served meanwhile
  }
  if (keeper_->go_on(driver_->scheduler(), at)) {
    loop_.post([] {});
  }
}

void Daemon::set_alarm() {
  const Time now = clock_.now();
  const Time wake =
      std::min({driver_->wake_at(), turns_->due(), requests_->due(), files_->room.due()});
  loop_.set_alarm(wake == kNever ? kForever : std::max(Duration{}, wake - now), [] {});
}

void Daemon::end_turn(Duration took) {
  Watchdog& watchdog = turns_->watchdog();
  if (watchdog.end_turn(took)) {
    state_.log().write("a turn took {:.3f} s, and nobody was served meanwhile: {}",
                       to_seconds(took), Watchdog::describe(watchdog.last()));
  }
}

}  // namespace berth
