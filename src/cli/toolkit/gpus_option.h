// --gpus: the same on every command that uses devices.
#pragma once

#include <string>

#include "cli/toolkit/args.h"

namespace berth {

/// Declares `--gpus LIST…` and sets `out` to its default, $BERTH_GPUS or auto. Separate words
/// (`--gpus 0 1 2`) are joined with blanks.
void add_gpus_option(Args& args, std::string& out);
/// The same for the daemon, which remembers the devices that it had: `out` is empty by default.
void add_daemon_gpus_option(Args& args, std::string& out);

}  // namespace berth
