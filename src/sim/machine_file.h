// Machines from a file: a CSV table with a line for each kind of device.
#pragma once

#include <string>
#include <string_view>

#include "sim/machine.h"

namespace berth {

/// The first line names columns, in any order, of: count (default 1), model, memory (24GiB), speed
/// (1), idle_w and full_w (what the model is known for), machine (a number; devices of one number
/// are in one machine; default 0). Errors name line and column.
Result<Machine> parse_machine_file(std::string_view text, const std::string& path);
Result<Machine> read_machine_file(const std::string& path);

}  // namespace berth
