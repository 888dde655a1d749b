// The environment variables that tell a job about its devices.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/devices.h"

namespace berth {

/// Variables to set or (no value) to remove.
using EnvironmentChanges = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The changes that make the job's leased devices visible to it, and no others.
EnvironmentChanges device_environment(const Devices& devices, std::span<const DeviceId> leased);

/// Leaves the user's own CUDA_DEVICE_ORDER to the job: it decides what numbers mean, but not what
/// UUIDs mean, and ids that are taken on trust are the user's own words. False if the order must
/// change all the same, because a driver has numbered the devices and knows no UUIDs.
bool keep_device_order(EnvironmentChanges& changes, std::string_view order,
                       std::span<const DeviceInfo> leased);

/// What the user is told then.
std::string other_device_order(std::string_view order);

/// Adds the changes in `later`. Where both change the same variable, `later` wins.
void add_changes(EnvironmentChanges& changes, EnvironmentChanges later);

}  // namespace berth
