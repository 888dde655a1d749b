// Devices known by name only: the meaning of `--gpus 0,1` where no driver can be asked.
//
// A slot may stand for several devices, or for none: its name, its word in CUDA_VISIBLE_DEVICES and
// its UUID then hold one part for each device, between commas.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/devices.h"

namespace berth {

/// One device per id, as given. An id given twice makes two slots. Devices that `driver` knows get
/// their UUIDs from it, so that locks of other berth instances on the same device are found.
std::unique_ptr<Devices> open_trusted(std::span<const std::string_view> ids,
                                      const Devices* driver = nullptr);

/// The id of a slot without a device, on the processor. An empty id is one, too.
inline constexpr std::string_view kCpuSlot = "cpu";

/// The devices of a slot, one by one. None for a slot on the processor.
std::vector<DeviceInfo> devices_of_slot(const DeviceInfo& slot);

}  // namespace berth
