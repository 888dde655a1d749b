// The GPUs of `schedule`: which there are, who has them, and how to get one back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/devices.h"

namespace berth {

/// What $BERTH_GPUS names; else as many as `schedule -i` has set; else what the drivers show; else
/// four, on trust.
Result<std::unique_ptr<Devices>> open_schedule_gpus();

/// `-s`: everybody who has a GPU, as a table on standard output.
void print_schedule_status();

/// `-rg`: opens what `-i` has closed, and ends the `schedule` call that has one of them, if it is
/// this user's.
Result<void> release_schedule_gpus(const std::vector<std::string>& names);

}  // namespace berth
