// LearnedWait: the job that the learned policy waits for, and what others may do meanwhile.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "policy/kept_devices.h"
#include "policy/running_ends.h"
#include "rl/features.h"

namespace berth {

class LearnedWait {
 public:
  /// A job that has waited for longer than `patience` gets its devices collected one by one.
  explicit LearnedWait(Duration patience) : patience_(patience) {}

  void joined(const Needs& needs);
  void left(const Job& job, const Needs& needs);
  void started(const Job& job, const Needs& needs, Time now);
  void stopped(const Job& job, const Needs& needs);
  RunningEnds& running() { return running_; }

  /// Begins a decision: nothing is waited for.
  void begin();
  /// Whether a decision is in vain: all jobs want whole devices or a CPU slot, and none is idle.
  bool nothing_fits(const View& view) const;

  /// Waits for this job, which does not fit, if anything can be kept for it. `hold`: what is free
  /// waits with it. If not, others may go past if that does not delay it.
  void wait_for(const View& view, const RankedJob& job, bool hold);
  bool any() const { return any_; }
  /// Nothing may go past it.
  bool holds_all() const { return holds_all_; }
  bool impatient(Time now, Time submitted) const {
    return now >= add_saturating(submitted, patience_);
  }
  /// False: nothing can be kept for jobs of this kind that are not impatient. `nowhere`: not even
  /// one device has room for them.
  bool may_hope(const View& view, ShapeId shape, bool nowhere) {
    return in_pool(view) || known_.may_keep(view, view.queue().needs(shape), nowhere);
  }

  /// The devices that this job must leave alone; nothing: it may not go past at all.
  std::optional<std::span<const DeviceId>> avoids(const RankedJob& job) const;

  /// As Policy's.
  std::optional<Reservation> reservation(const View& view) const;
  Time next_look(const View& view) const;

 private:
  bool in_pool(const View& view) const;
  std::optional<Reservation> keep(const View& view, const RankedJob& job);

  Duration patience_;
  RunningEnds running_;
  std::size_t choosy_ = 0;   // waiting and running jobs for which it matters what devices they get
  std::size_t for_cpu_ = 0;  // waiting jobs without a device
  KnownEnds known_;

  // What is kept, as of the last decision.
  JobId blocked_;
  bool any_ = false;
  bool holds_all_ = false;
  Reservation kept_;                                   // its devices, where it matters which
  Duration length_ = kForever;                         // jobs that are gone by then delay nobody
  Amount spare_ = std::numeric_limits<Amount>::max();  // others may take so much
};

}  // namespace berth
