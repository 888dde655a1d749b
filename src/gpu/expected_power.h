// The power that devices are expected to draw, for policies with a power budget.
#pragma once

#include <map>
#include <string>

#include "gpu/devices.h"

namespace berth {

/// The expected power of each device, by name. A device with a job may draw as much as its power
/// limit allows, so it is expected to draw that. A device without a job draws about a seventh of
/// its limit, as data-centre boards do. A device without a known limit keeps the default figures.
/// Reads the devices: see Devices::sample().
std::map<std::string, DevicePower> expected_power(Devices& devices);

}  // namespace berth
