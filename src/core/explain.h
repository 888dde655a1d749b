// Explanation: why a waiting job waits, as data and in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/remedy.h"

namespace berth {

struct Explanation {
  enum class Kind : std::uint8_t {
    NotWaiting,  // it runs or has ended
    Held,        // until it is released
    NotYet,      // its start time has not come, or its retry delay is not over
    Dependency,  // jobs that it follows have not ended
    Paused,      // the scheduler starts nothing
    Impossible,  // no device here could ever serve it
    NoDevice,    // too few devices have room now
    NoSlot,      // it needs no device, but enough such jobs run already
    Behind,      // it would fit, but the policy starts another job first
    Reserved,    // it would fit, but the devices are kept for another job
    Objection,   // it would fit, but the policy has a reason of its own
    Next,        // it will start at the next decision
  };
  Kind kind = Kind::NotWaiting;
  JobId other;                // Behind, Reserved: the job in front
  Time until = kNever;        // NotYet, NoDevice, Reserved: when that is expected to change
  bool tried = false;         // NotYet: it has had an attempt
  std::uint32_t have = 0;     // NoDevice: devices that have room
  std::uint32_t drained = 0;  // NoDevice: devices that would serve but must take no jobs
  std::uint32_t lost = 0;     // NoDevice: devices that would serve but do not answer
  std::uint32_t taken = 0;    // NoDevice: devices that would serve but another berth instance has
  std::uint32_t foreign = 0;  // NoDevice: devices whose memory other programs hold
  std::uint32_t no_mps = 0;   // NoDevice: devices with room if their jobs used MPS, too
  std::uint32_t mps = 0;      // NoDevice: the reverse, or their MPS jobs are another user's
  std::uint32_t busy = 0;     // NoDevice: devices that other jobs fill
  bool wants_mps = false;     // NoDevice: the job itself uses MPS
  std::size_t ahead = 0;      // NoDevice, NoSlot, Behind: jobs in front of it in the policy's order
  Remedy remedy;              // NoDevice: what would let it fit now
  std::string needs;          // what the job asks for, in words
  std::string objection;      // Objection: in words
  std::vector<JobId> blockers;  // Dependency: jobs that have not ended
};

/// Explanation::ahead counts no further.
inline constexpr std::size_t kMostAhead = 10'000;

/// One sentence for a user; times are relative to `now`.
std::string describe(const Explanation& why, Time now);

}  // namespace berth
