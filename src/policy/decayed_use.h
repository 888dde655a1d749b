// DecayedUse: how much of something, as a rule GPU time, each owner has used lately. Use is
// forgotten by half in every half-life, and what runs at the moment counts as it accrues.
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

  /// The owner uses so much more, or less, from now on.
  void change(OwnerId owner, double rate, Time now);

  /// In GPU-seconds, or seconds of what change() was told.
  double of(OwnerId owner, Time now) const;
  /// What the owner uses at the moment.
  double rate(OwnerId owner) const;
  /// Whether the owner has ever used any.
  bool knows(OwnerId owner) const { return owners_.contains(owner); }

  /// For a checkpoint: what there is to know about each owner.
  void add_to(PolicyBooks& books) const;
  /// Reads what add_to() wrote; false when it makes no sense.
  bool take(std::span<const std::int64_t> books);

 private:
  struct Use {
    double used = 0;  // as of `at`
    double rate = 0;  // since then
    Time at;
  };

  double at(const Use& use, Time now) const;

  double decay_;
  std::map<OwnerId, Use> owners_;
};

}  // namespace berth
