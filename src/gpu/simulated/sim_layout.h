// The bytes of the state file that simulated devices share between processes: a header, then one
// record per device. It is plain data of fixed size. All processes map the same file, so a change
// here needs a new kSimVersion. SimState owns the rules; see there.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace berth {

inline constexpr std::array<char, 8> kSimMagic = {'b', 'e', 'r', 't', 'h', 's', 'i', 'm'};
inline constexpr std::uint32_t kSimVersion = 1;
inline constexpr std::uint32_t kSimMostDevices = 1024;
inline constexpr std::size_t kSimProcessSlots = 128;

/// What one process uses on one device. The slot is free while pid is 0, and pid is written last,
/// so a process that is killed half way through leaves a free slot and not half an entry.
struct SimProcess {
  std::int32_t pid;
  std::int16_t slice;     // the MIG slice it runs on; -1 for the whole device
  std::uint16_t via_mps;  // 1: listed as a client of MPS
  std::uint64_t start;    // clock ticks after boot; a later process with the same pid has another
  std::int64_t memory;    // bytes
  std::int32_t utilization;
  std::int32_t milliwatts;
};

/// Readings that a device can be told not to support, as bits.
using SimFields = std::uint32_t;
inline constexpr SimFields kSimMemory = 1U << 0;
inline constexpr SimFields kSimUtilization = 1U << 1;
inline constexpr SimFields kSimPower = 1U << 2;
inline constexpr SimFields kSimPowerLimit = 1U << 3;
inline constexpr SimFields kSimEnergy = 1U << 4;
inline constexpr SimFields kSimTemperature = 1U << 5;
inline constexpr SimFields kSimProcesses = 1U << 6;
inline constexpr SimFields kSimNvlink = 1U << 7;

struct SimRecord {
  std::array<char, 64> uuid;
  std::array<char, 64> model;
  std::array<char, 16> pci_bus;
  std::int64_t memory;   // bytes
  std::int64_t foreign;  // bytes in use by no process in particular, set by hand
  std::int32_t idle_milliwatts;
  std::int32_t limit_milliwatts;
  std::int32_t least_limit_milliwatts;
  std::int32_t most_limit_milliwatts;
  std::uint16_t numa;
  std::uint16_t island;
  std::uint32_t mig_slices;  // 0: MIG is off; else the number of equal slices
  std::uint32_t lost;
  SimFields unsupported;
  std::uint32_t last_xid;
  std::uint32_t xid_count;
  double joules;
  std::int64_t joules_at;  // nanoseconds after boot up to which `joules` has counted
  std::array<SimProcess, kSimProcessSlots> processes;
};

struct SimHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t device_count;
  std::array<char, 32> driver;  // version that the fake driver library claims
  std::array<char, 40> boot;    // boot id of the machine when the file was last opened
};

static_assert(sizeof(SimProcess) == 32 && sizeof(SimHeader) == 88);
static_assert(sizeof(SimRecord) == 216 + kSimProcessSlots * sizeof(SimProcess));
static_assert(std::is_trivially_copyable_v<SimRecord> && alignof(SimRecord) == 8);

}  // namespace berth
