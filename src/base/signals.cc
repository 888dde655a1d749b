#include "base/signals.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstring>

#include "base/units.h"

namespace berth {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("SIG{}", signal);
}

Result<int> parse_signal(std::string_view text) {
  constexpr int kMost = 64;
  const std::string_view name = text.starts_with("SIG") ? text.substr(3) : text;
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* known = ::sigabbrev_np(signal);
    if (known != nullptr && name == known) {
      return signal;
    }
  }
  const Result<std::int64_t> number = parse_integer(name, "a signal");
  if (!number || *number < 1 || *number > kMost) {
    return fail(ErrorCode::Usage, fmt::format("there is no signal '{}': write USR1 or 10", text));
  }
  return static_cast<int>(*number);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace berth
