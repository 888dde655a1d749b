#include "core/remedy.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

constexpr Bytes kMiB{std::int64_t{1} << 20};
constexpr Bytes kGiB{std::int64_t{1} << 30};

/// As a user types it, rounded down.
std::string as_option(Bytes size) {
  return size >= kGiB ? fmt::format("{}GiB", size.count / kGiB.count)
                      : fmt::format("{}MiB", size.count / kMiB.count);
}

/// The most memory that the job could claim and fit now, in whole MiB.
Bytes most_memory(const DeviceTable& devices, Needs needs, Placement placement) {
  std::int64_t least = 0;  // fits
  std::int64_t most = 0;   // does not
  for (const DeviceSlot& slot : devices.all()) {
    most = std::max(most, slot.spec.memory.count / kMiB.count + 1);
  }
  while (most - least > 1) {
    const std::int64_t middle = least + (most - least) / 2;
    needs.memory = Bytes{middle * kMiB.count};
    (devices.place(needs, placement) ? least : most) = middle;
  }
  return Bytes{least * kMiB.count};
}

/// The most devices that the job could have now; 0 when it is none.
std::uint32_t most_gpus(const DeviceTable& devices, Needs needs, Placement placement) {
  std::uint32_t least = 0;          // fits
  std::uint32_t most = needs.gpus;  // does not
  while (most - least > 1) {
    needs.gpus = least + (most - least) / 2;
    (devices.place(needs, placement) ? least : most) = needs.gpus;
  }
  return least;
}

std::string device_of(const DeviceTable& devices, Needs needs, Bytes memory, Placement placement) {
  needs.memory = memory;
  const auto placed = devices.place(needs, placement);
  return placed && placed->size() == 1 ? devices[placed->front()].spec.name : "";
}

}  // namespace

Remedy find_remedy(const DeviceTable& devices, const Needs& needs, Placement placement) {
  Remedy remedy;
  const bool unknown = needs.alone();
  if (unknown || needs.memory > kMiB) {
    remedy.memory = most_memory(devices, needs, placement);
    if (remedy.memory >= kMiB && (unknown || remedy.memory < needs.memory)) {
      remedy.kind = unknown ? Remedy::Kind::Share : Remedy::Kind::LessMemory;
      remedy.device = device_of(devices, needs, remedy.memory, placement);
      return remedy;
    }
  }
  Needs changed = needs;
  changed.model.clear();
  changed.only.clear();
  changed.exclude.clear();
  if (changed != needs && devices.place(changed, placement)) {
    remedy.kind = Remedy::Kind::AnyDevice;
    return remedy;
  }
  remedy.gpus = most_gpus(devices, needs, placement);
  remedy.kind = remedy.gpus > 0 ? Remedy::Kind::FewerGpus : Remedy::Kind::None;
  return remedy;
}

std::string describe(const Remedy& remedy) {
  const std::string where = remedy.device.empty() ? "each of them" : "GPU " + remedy.device;
  switch (remedy.kind) {
    case Remedy::Kind::None:
      return "";
    case Remedy::Kind::Share:
      return fmt::format(
          "{} has {} free, but this job's memory is not known, so it wants {}: --mem {} or less "
          "lets it share",
          where, format_bytes(remedy.memory), remedy.device.empty() ? "whole GPUs" : "a whole GPU",
          as_option(remedy.memory));
    case Remedy::Kind::LessMemory:
      return fmt::format("{} has {} free: it would fit with --mem {}", where,
                         format_bytes(remedy.memory), as_option(remedy.memory));
    case Remedy::Kind::AnyDevice:
      return "it would fit now if it took any device";
    case Remedy::Kind::FewerGpus:
      return fmt::format("it would fit now with --gpus {}", remedy.gpus);
  }
  return "";
}

}  // namespace berth
