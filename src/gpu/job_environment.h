// What a job is told about its devices.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.h"

namespace berth {

/// Variables to set or (no value) to remove.
using EnvironmentChanges = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// The devices that a job has leased become visible to it, and no others.
EnvironmentChanges device_environment(const Devices& devices, std::span<const DeviceId> leased);

/// Makes `later` changes, too: where both say something of a variable, they count.
void add_changes(EnvironmentChanges& changes, EnvironmentChanges later);

}  // namespace berth
