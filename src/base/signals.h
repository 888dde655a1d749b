// Signals by name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// "SIGKILL"; of a signal without a name of its own, "SIG35".
std::string signal_name(int signal);

/// "USR1", "SIGUSR1" or "10".
Result<int> parse_signal(std::string_view text);

}  // namespace berth
