// `berth run --on slurm`: the daemon runs the commands, on a cluster, and this command waits.
#pragma once

#include <optional>

#include "cli/commands.h"

namespace berth {

/// The exit code, if the words of `berth run` name another target than this machine.
std::optional<int> run_on_target(Words words);

}  // namespace berth
