// MpsWaits: what the supervisor of MPS waits for, behind one descriptor: processes that end, files
// that appear, and a time.
#pragma once

#include <chrono>

#include "base/fd.h"
#include "gpu/mps/mps_place.h"

namespace berth {

class MpsWaits {
 public:
  using Clock = std::chrono::steady_clock;

  MpsWaits();

  /// Readable when something has come.
  int event_fd() const { return epoll_.get(); }

  /// Until the descriptor is closed.
  void watch(int fd) const;
  /// Something new in the place's pipe directory.
  void watch(const MpsPlace& place) const;
  /// max(): no time.
  void wake_at(Clock::time_point time);

  /// Takes note of the time and of files, so that event_fd() tells of what comes after. True:
  /// something is new in one of the places.
  bool clear();

 private:
  Fd epoll_;
  Fd folders_;  // inotify
  Fd timer_;
};

}  // namespace berth
