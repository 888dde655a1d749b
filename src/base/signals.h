// Signals: their names, and whether this process ignores them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// "SIGKILL", or "SIG35" for a signal without a name of its own.
std::string signal_name(int signal);

/// "USR1", "SIGUSR1" or "10".
Result<int> parse_signal(std::string_view text);

/// Whether the signal is ignored, as nohup and `&` in a script have it. A signal that was ignored
/// when berth started must stay so, and a blocked signal reaches a descriptor even then.
bool is_ignored(int signal);

}  // namespace berth
