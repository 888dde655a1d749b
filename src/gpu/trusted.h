// Devices known by name only: the meaning of `--gpus 0,1` where no driver can be asked.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "gpu/devices.h"

namespace berth {

/// One device per id, as given. An id given twice makes two slots. Devices that `driver` knows get
/// their UUIDs from it, so that locks of other berth instances on the same device are found.
std::unique_ptr<Devices> open_trusted(std::span<const std::string_view> ids,
                                      const Devices* driver = nullptr);

}  // namespace berth
