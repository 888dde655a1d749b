// DecayedUse: how much GPU time each owner has used lately. Use is forgotten by half in every
// half-life, and what runs at the moment counts as it accrues.
#pragma once

#include <map>
#include <span>

#include "core/policy.h"

namespace berth {

class DecayedUse {
 public:
  explicit DecayedUse(Duration half_life);

  void started(const Job& job, const Needs& needs, Time now);
  void stopped(const Job& job, const Needs& needs, Time now);

  /// In GPU-seconds.
  double of(OwnerId owner, Time now) const;

  /// For a checkpoint: what there is to know about each owner.
  void add_to(PolicyBooks& books) const;
  /// Reads what add_to() wrote; false when it makes no sense.
  bool take(std::span<const std::int64_t> books);

 private:
  struct Use {
    double seconds = 0;  // GPU-seconds, as of `at`
    double gpus = 0;     // in use since then
    Time at;
  };

  double at(const Use& use, Time now) const;
  void change(OwnerId owner, double gpus, Time now);

  double decay_;
  std::map<OwnerId, Use> owners_;
};

}  // namespace berth
