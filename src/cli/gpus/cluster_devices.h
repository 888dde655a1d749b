// `berth gpus --on slurm`: the nodes of a cluster, their devices, and who holds them, as Slurm
// tells.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/toolkit/terminal.h"

namespace berth {

/// The cluster's devices as a table, or in JSON.
Result<std::string> cluster_devices(const std::string& cluster, bool json,
                                    const Terminal& terminal);

}  // namespace berth
