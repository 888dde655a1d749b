// The environment variables that tell a job about its devices.
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

/// The changes that make the job's leased devices visible to it, and no others.
EnvironmentChanges device_environment(const Devices& devices, std::span<const DeviceId> leased);

/// Adds the changes in `later`. Where both change the same variable, `later` wins.
void add_changes(EnvironmentChanges& changes, EnvironmentChanges later);

}  // namespace berth
