// Standard input for a job in the foreground.
#pragma once

#include "exec/runner.h"

namespace berth {

/// The job reads what we could read. On a terminal it gets a session of its own, so that it may
/// read there, for a debugger, while Ctrl-C comes to us. In the background it would take the
/// shell's input, so it gets none.
void pass_input(Launch& launch);

}  // namespace berth
