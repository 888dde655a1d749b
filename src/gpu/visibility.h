// Reads CUDA's visibility variables: which devices the mask that berth itself was started with
// leaves to it. (visibility() in devices.h does the reverse.)
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "gpu/devices.h"

namespace berth {

/// Splits at commas and blanks; empty parts vanish.
std::vector<std::string_view> split_ids(std::string_view text);

/// Indexes of the devices that `id` names: by name ("0", "0:1"), by UUID or by a unique beginning
/// of a UUID. The number of a device that is split into MIG slices names all its slices.
std::vector<std::size_t> find_devices(std::string_view id, std::span<const DeviceInfo> devices);

/// Indexes of the devices that CUDA_VISIBLE_DEVICES=mask shows, in the mask's order. As in CUDA, a
/// word that names no device, or repeats one, hides all that follow it.
std::vector<std::size_t> apply_mask(std::string_view mask, std::span<const DeviceInfo> devices);

}  // namespace berth
