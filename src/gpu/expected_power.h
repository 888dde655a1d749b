// What devices are expected to draw, for policies with a power budget.
#pragma once

#include <map>
#include <string>

#include "gpu/devices.h"

namespace berth {

/// By name. A device with a job may draw as much as its power limit allows, and is reckoned with
/// so; one without draws about a seventh of that, as data-centre boards do. Where no limit is known
/// the usual figures stand. Reads the devices: see Devices::sample().
std::map<std::string, DevicePower> expected_power(Devices& devices);

}  // namespace berth
