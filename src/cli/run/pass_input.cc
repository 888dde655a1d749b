#include "cli/run/pass_input.h"

#include <unistd.h>

namespace berth {

void pass_input(Launch& launch) {
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  const pid_t foreground = is_terminal ? ::tcgetpgrp(STDIN_FILENO) : -1;
  const bool is_background = foreground >= 0 && foreground != ::getpgrp();
  launch.stdin_fd = is_background ? -1 : STDIN_FILENO;
  launch.own_session = is_terminal && !is_background;
}

}  // namespace berth
