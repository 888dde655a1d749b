// Tells a list of commands from a program that was given in its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace berth {

/// An error, which says what to type, if the file is a script or a program and not a list of
/// commands. A file that cannot be read is not judged here.
Result<void> check_command_file(const std::string& path);

/// How many GPUs the #SBATCH lines of a script ask for; nothing if it has no such lines.
std::optional<std::uint32_t> slurm_gpus(const std::string& path);

}  // namespace berth
