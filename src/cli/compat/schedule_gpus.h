// The GPUs of `schedule`: which GPUs there are, who holds them, and how to release one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/devices.h"

namespace berth {

/// The GPUs that $BERTH_GPUS names; else as many as `schedule -i` has set; else those that the
/// drivers show; else four, on trust.
Result<std::unique_ptr<Devices>> open_schedule_gpus();

/// `-s`: prints a table of all holders of GPUs on standard output, and which GPUs are free.
Result<void> print_schedule_status();

/// `-rg`: opens GPUs that `-i` has closed. Ends the `schedule` call that holds one of `names`, if
/// the call is this user's.
Result<void> release_schedule_gpus(const std::vector<std::string>& names);

}  // namespace berth
