// Signals by name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// "SIGKILL", or "SIG35" for a signal without a name of its own.
std::string signal_name(int signal);

/// "USR1", "SIGUSR1" or "10".
Result<int> parse_signal(std::string_view text);

}  // namespace berth
