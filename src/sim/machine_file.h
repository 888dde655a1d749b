// Machines from a file: a CSV table with one line for each kind of device.
#pragma once

#include <string>
#include <string_view>

#include "sim/machine.h"

namespace berth {

/// The first line names columns, in any order: count (default 1), model, memory (such as 24GiB),
/// speed (default 1), idle_w and full_w (default: the known values of the model), machine (a
/// number, default 0; devices with the same number are in one machine). Errors name the line and
/// column.
Result<Machine> parse_machine_file(std::string_view text, const std::string& path);
Result<Machine> read_machine_file(const std::string& path);

}  // namespace berth
