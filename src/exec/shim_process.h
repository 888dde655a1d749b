// The process of a shim. It runs the attempt that the launcher has prepared. When that is over and
// the daemon has another for its place, it goes on with that one: no fork, no exit, no launcher on
// the way. The daemon asks for the next over the shim's own wire; a shim whose wire is closed exits
// when its job has ended.
//
// A request on the wire brings along a descriptor that shares the launcher's lock (launcher.h).
// From the moment it is sent until the attempt is on record, the lock is held, whoever dies
// meanwhile: a process that gets the lock finds a record of every attempt in the folder.
#pragma once

#include <cstdint>

#include "exec/shim.h"

namespace berth {

/// Runs the forked child to its end, with every signal blocked. The child was forked at
/// `first_tick` or later. `wire`: -1 for a shim that runs one attempt only.
[[noreturn]] void run_shim(Shim& first, const ShimTools& tools, int wire,
                           std::uint64_t first_tick) noexcept;

}  // namespace berth
