// The shim: the parent of one job, forked from the launcher without an exec. It makes the attempt's
// file, starts the job, waits for it, ends what the job left, writes down how it ended, and is gone.
// It needs nobody: daemon and launcher may come and go.
//
// It is asked by signal: shim_signal() with the number of a signal as its value is passed on to the
// whole tree. TERM, INT and HUP from anyone are passed on as TERM, so that a machine that shuts down
// ends jobs in order.
#pragma once

#include <cstdint>
#include <string>

#include "exec/shim_wire.h"

namespace berth {

/// Realtime, so that requests queue and none is lost.
int shim_signal();

/// What the forked child does, to its end. It was forked at `first_tick` or later.
[[noreturn]] void run_shim(ShimRequest request, std::uint64_t first_tick,
                           const std::string& boot_id);

}  // namespace berth
