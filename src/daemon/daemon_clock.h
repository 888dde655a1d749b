// DaemonClock: the daemon's own time. It is the steady clock, set from the wall clock once at the
// start, so time never goes back. It continues from where the previous daemon left it, so no record
// runs backwards when the wall clock was set back in between.
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

  /// The wall-clock time since 1970. Tests shift it by BERTH_CLOCK_OFFSET, in seconds, without
  /// setting the machine's clock.
  static Duration wall();
  /// Converts a time that was read off the wall clock to this clock. The two differ once the wall
  /// clock was set.
  Time from_wall(std::int64_t nanoseconds) const;

  /// Continues where the previous daemon's clock left off. `boot` names the boot of the machine.
  Result<void> go_on(Store& store, const std::string& boot, DaemonLog& log);

  /// How far the clock of an earlier daemon of this boot was behind. A time that the earlier daemon
  /// wrote down is later by this amount on the present clock.
  Duration shift() const { return shift_; }

 private:
  Duration to_wall_{};  // added to the steady clock, it gives wall time
  Duration shift_{};
};

}  // namespace berth
