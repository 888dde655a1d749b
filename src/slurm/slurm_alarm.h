// SlurmAlarm: what time it is, and a descriptor that becomes readable when a target is to be called
// next. Tests bring a clock of their own.
#pragma once

#include <functional>

#include "base/fd.h"
#include "slurm/slurm_batch.h"

namespace berth {

class SlurmAlarm {
 public:
  using Now = std::function<SlurmTime()>;

  explicit SlurmAlarm(Now now = std::chrono::steady_clock::now);

  SlurmTime now() const { return now_(); }
  /// An earlier time than that before counts.
  void wake(SlurmTime when);
  void wake() { wake(now()); }
  /// When it rings: SlurmTime::max() for never.
  SlurmTime due() const { return due_; }
  /// It has rung, or need not any more.
  void clear();
  int event_fd() const { return timer_.get(); }

 private:
  Now now_;
  SlurmTime due_ = SlurmTime::max();
  Fd timer_;
};

}  // namespace berth
