// What journal entries have on disk besides their fields; see journal.h.
#pragma once

#include <cstdint>

namespace berth {

/// The first byte of an entry. The numbers are on disk.
enum class InputKind : std::uint8_t {
  Submitted = 1,
  Cancel = 2,
  Hold = 3,
  Release = 4,
  Pause = 5,
  Resume = 6,
  JobStarted = 7,
  JobExited = 8,
  DeviceChanged = 9,
  ForeignUse = 10,
  DeviceAdded = 11,
  Stepped = 12,
  JobLost = 13,
  Restarted = 14,
  Restored = 15,
  Edited = 16,
  DeviceTaken = 17,
  StartRefused = 18,
  Reclaim = 19,
  JobUse = 20,
  PolicyChanged = 21,
  CheckpointBegun = 22,
  JobsGone = 23,
  CheckpointDone = 24,
  Reestimate = 25,
};

/// Fields of a Restored that are not at their defaults, as bits. The bits are on disk.
namespace restored_field {
inline constexpr std::uint64_t kAttempt = 1 << 0;
inline constexpr std::uint64_t kMemoryRetries = 1 << 1;
inline constexpr std::uint64_t kRunning = 1 << 2;
inline constexpr std::uint64_t kStarting = 1 << 3;
inline constexpr std::uint64_t kStanding = 1 << 4;
inline constexpr std::uint64_t kRanked = 1 << 5;  // each job has a rank
inline constexpr std::uint64_t kAll = (1 << 6) - 1;
}  // namespace restored_field

}  // namespace berth
