// IdleShims: shims whose job has ended, until the daemon has another job for them. They wait for a
// moment only: a shim is cheap to make when nobody is in a hurry. Each goes on with jobs of its own
// user alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/fd.h"

namespace berth {

/// A shim that this daemon can talk to.
struct ShimLine {
  uid_t user = 0;
  Fd process;
  Fd wire;
};

class IdleShims {
 public:
  /// Without descriptors for its timer, it keeps no shims.
  IdleShims();

  /// Readable when expire() has something to do.
  int event_fd() const { return timer_.get(); }

  void add(ShimLine shim);
  /// The one that became idle last, so that the others may go.
  std::optional<ShimLine> take(uid_t user);
  /// Lets those go that have waited long enough.
  void expire();
  /// Drops those that have died.
  void forget_dead();
  void hang_up_all() { idle_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    ShimLine shim;
    Clock::time_point since;
  };

  void set_timer();

  Fd timer_;
  bool timing_ = false;
  std::vector<Idle> idle_;  // the newest last
};

}  // namespace berth
