// The part of NVIDIA's management library that berth calls, as laid out in memory. These are
// berth's own declarations of a public interface, so building needs no NVIDIA header and starting
// needs no driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth::nvml {

using Device = struct OpaqueDevice*;
using EventSet = struct OpaqueEventSet*;

/// The return codes of every call.
inline constexpr int kSuccess = 0;
inline constexpr int kUninitialized = 1;
inline constexpr int kInvalidArgument = 2;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kNotFound = 6;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kTimeout = 10;
inline constexpr int kFunctionNotFound = 13;
inline constexpr int kGpuLost = 15;
inline constexpr int kVersionMismatch = 25;

inline constexpr std::uint32_t kNoInstance = 0xffffffff;
inline constexpr std::uint64_t kNoValue = ~std::uint64_t{0};
inline constexpr std::uint64_t kEventXid = 0x8;
inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kMigEnabled = 1;
inline constexpr unsigned kMostNvlinks = 18;
/// Two devices that meet no higher than this share PCIe switches and no host bridge.
inline constexpr unsigned kTopologyMultipleSwitches = 20;
inline constexpr unsigned kTopologySystem = 50;
inline constexpr std::size_t kTextSize = 96;

constexpr std::uint32_t versioned(std::size_t size, std::uint32_t version) {
  return static_cast<std::uint32_t>(size) | version << 24;
}

struct Memory {  // used includes what the driver keeps for itself
  std::uint64_t total, free, used;
};

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};

struct Utilization {
  std::uint32_t gpu, memory;
};

struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<char, 32> bus_id;
};

struct ProcessV1 {
  std::uint32_t pid;
  std::uint64_t used;
};

struct ProcessV2 {  // of _v2 and _v3
  std::uint32_t pid;
  std::uint64_t used;
  std::uint32_t gpu_instance, compute_instance;
};

/// The entry that _v3 wrote in drivers 535.43 to 535.86, under the same name.
struct ProcessOdd {
  ProcessV2 known;
  std::uint64_t protected_memory;
};

struct EventData {
  Device device;
  std::uint64_t type, data;
  std::uint32_t gpu_instance, compute_instance;
};

struct Attributes {
  std::uint32_t multiprocessors, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices;
  std::uint64_t memory_mebibytes;
};

static_assert(sizeof(Memory) == 24 && sizeof(MemoryV2) == 40 && sizeof(Utilization) == 8);
static_assert(sizeof(PciInfo) == 68 && sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24);
static_assert(sizeof(ProcessOdd) == 32 && sizeof(EventData) == 32 && sizeof(Attributes) == 40);

}  // namespace berth::nvml
