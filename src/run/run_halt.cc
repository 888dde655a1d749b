#include "run/run_halt.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/signals.h"

namespace berth {

RunHalt::RunHalt(const RunOptions& options, Driver& driver, RunInput& input, RunAccount& account,
                 RunObserver& observer, const Host& host)
    : options_(options),
      driver_(driver),
      input_(input),
      account_(account),
      observer_(observer),
      host_(host) {}

void RunHalt::watch_signals(Poller& poller) {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) {
      ::sigaddset(&mask, signal);
    }
  }
  if (options_.drain_signal != 0) {
    ::sigaddset(&mask, options_.drain_signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  poller.add(signals_.get(), [this] { take_signals(); });
}

void RunHalt::check() {
  RunSummary& summary = account_.summary();
  const std::uint64_t failed = summary.counts.failed + summary.counts.timed_out;
  if (summary.halted || !options_.halt.reached(summary.counts.succeeded, failed)) {
    return;
  }
  summary.halted = true;
  const bool at_once = options_.halt.when == Halt::When::Now;
  observer_.warning(fmt::format("--halt: {} failed, {} succeeded: starting nothing more{}", failed,
                                summary.counts.succeeded, at_once ? ", ending what runs" : ""));
  go_to(at_once ? Stage::HasAsked : Stage::StartsNothing);
}

void RunHalt::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    account_.summary().interrupted = true;
    // When the terminal is gone nobody can ask twice.
    const bool asks = signal.ssi_signo == SIGHUP || options_.ends_at_first_signal ||
                      (signal.ssi_code == SI_QUEUE && signal.ssi_int == kEndAtOnce);
    const int next = static_cast<int>(stage_) + 1;
    const int level = asks ? std::max(2, next) : std::min(3, next);
    go_to(static_cast<Stage>(std::min(level, 3)));
    if (const std::size_t running = driver_.view().running().size(); running > 0) {
      observer_.interrupted(static_cast<int>(stage_), running);
    }
  }
}

void RunHalt::go_to(Stage stage) {
  const Time at = host_.now();
  if (stage_ == Stage::No) {
    driver_.scheduler().tell(Pause{}, at);
    input_.close();
    driver_.attempts().drop_unlaunched(at);
  }
  const bool ask = stage >= Stage::HasAsked && stage_ < Stage::HasAsked;
  const bool force = stage >= Stage::HasKilled;
  stage_ = std::max(stage_, stage);
  if (!ask && !force) {
    return;
  }
  for (const auto& [id, attempt] : driver_.attempts().all()) {
    // Asking a second time means force. One that a time limit has asked already is forced, too.
    if (ask) {
      (void)driver_.scheduler().tell(Cancel{id}, at).has_value();
    }
    if (force) {
      (void)driver_.scheduler().tell(Cancel{id}, at).has_value();
    }
  }
}

}  // namespace berth
