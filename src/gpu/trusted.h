// Devices that are known by name only: what `--gpus 0,1` means where no driver can be asked.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "gpu/devices.h"

namespace berth {

/// One device per id, as given; an id that comes twice is two slots. Those that `driver` knows get
/// their UUIDs from it, so that the locks of others on the same device are found.
std::unique_ptr<Devices> open_trusted(std::span<const std::string_view> ids,
                                      const Devices* driver = nullptr);

}  // namespace berth
