// The devices that are kept for a job that waits for more of them than are free.
#pragma once

#include "core/policy.h"

namespace berth {

/// The devices on which the job will have room first. Of those that have it by a known time, the
/// ones that have it latest: the others are of use to other jobs until then. Nothing where too few
/// devices serve, and nothing where nobody can tell when there will be room, unless `collect`:
/// then devices are kept one by one as they come free.
std::optional<Reservation> keep_devices(const View& view, const Job& job, bool collect);

/// KnownEnds: the devices on which anybody knows when a job will end, found out when it is asked
/// for. Where that is nowhere, no number of kinds of job need be asked what could be kept for them.
class KnownEnds {
 public:
  /// A decision begins.
  void forget() { known_.clear(); }
  /// False: keep_devices() finds nothing for such a job unless it collects. `nowhere`: no device
  /// has room for it.
  bool may_keep(const View& view, const Needs& needs, bool nowhere);

 private:
  enum class Known : std::uint8_t { Unasked, No, Yes };

  bool knows(const View& view, DeviceId id);

  std::vector<Known> known_;  // by device
};

}  // namespace berth
