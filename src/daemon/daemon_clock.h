// DaemonClock: the daemon's own time. It is the steady clock, set by the wall clock once at the
// start, so that time never goes back; and it goes on from where the daemon before left it, so that
// no record runs backwards when the clock was set back in between.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "daemon/daemon_log.h"
#include "store/store.h"

namespace berth {

class DaemonClock {
 public:
  Time now() const;

  /// Since 1970. BERTH_CLOCK_OFFSET, in seconds, is for tests: a clock that is set without setting
  /// one.
  static Duration wall();
  /// A time that others read off the wall clock, on this one. The two differ once the wall clock
  /// was set.
  Time from_wall(std::int64_t nanoseconds) const;

  /// Takes time up where the daemon before left it. `boot` names the boot of the machine.
  Result<void> go_on(Store& store, const std::string& boot, DaemonLog& log);

  /// By how much the clock of an earlier daemon of this boot was behind: a time that it wrote down
  /// is this much later on the present one.
  Duration shift() const { return shift_; }

 private:
  Duration to_wall_{};  // what turns the steady clock into wall time
  Duration shift_{};
};

}  // namespace berth
