#include "daemon/daemon_clock.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/units.h"

namespace berth {
namespace {

/// The boot, and what the steady clock was turned into wall time by.
constexpr std::string_view kClockSetting = "clock";

Duration steady_clock() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

/// When the daemon before wrote something down last; nothing where there was none.
Result<Duration> newest_record(Store& store) {
  if (store.journal().next_entry() <= 1) {
    return Duration{};
  }
  const auto last = store.journal().entries(store.journal().next_entry() - 1, 1);
  if (!last) {
    return Failure(last.error());
  }
  return last->empty() ? Duration{} : last->front().time.time_since_epoch();
}

}  // namespace

Time DaemonClock::now() const { return Time(steady_clock() + to_wall_); }

Duration DaemonClock::wall() {
  const char* offset = std::getenv("BERTH_CLOCK_OFFSET");
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()) +
         std::chrono::seconds(offset == nullptr ? 0 : std::atoll(offset));
}

Time DaemonClock::from_wall(std::int64_t nanoseconds) const {
  return now() - (wall() - Duration(nanoseconds));
}

/// A job that ran before must not end before it began. After more than a day it is the past that
/// was wrong.
///
/// How long a job has run is another question, and no business of the wall clock. Within a boot the
/// steady clock knows: what it has to be turned into wall time by is kept, and when that has
/// changed the starts of running jobs move along. (The steady clock stands still while the machine
/// sleeps, as the limits of jobs do.)
Result<void> DaemonClock::go_on(Store& store, const std::string& boot, DaemonLog& log) {
  constexpr Duration kAtMost = std::chrono::hours(24);
  constexpr Duration kNoticeable = std::chrono::seconds(1);
  const Result<Duration> newest = newest_record(store);
  const Result<std::optional<std::string>> kept = store.settings().get(kClockSetting);
  if (!newest || !kept) {
    return Failure(newest ? kept.error() : newest.error());
  }
  const Duration real = wall();
  to_wall_ = (*newest > real && *newest - real < kAtMost ? *newest : real) - steady_clock();
  if (const std::string before = kept->value_or(""); before.starts_with(boot + ' ')) {
    if (const auto offset = parse_integer(before.substr(boot.size() + 1), "the clock")) {
      shift_ = to_wall_ - Duration(*offset);
    }
  }
  if (shift_ < kNoticeable && shift_ > -kNoticeable) {
    to_wall_ -= shift_;
    shift_ = {};
  } else {
    log.write(
        "the clock was set by {:.0f} s since the last daemon: jobs that run keep the time "
        "that they have had",
        to_seconds(shift_));
  }
  return store.settings().set(std::string(kClockSetting),
                              fmt::format("{} {}", boot, to_wall_.count()));
}

}  // namespace berth
