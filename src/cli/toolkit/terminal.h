// Describes where output goes: to a terminal of some width, or to a file or pipe.
#pragma once

#include <cstddef>

namespace berth {

struct Terminal {
  bool interactive = false;  // a terminal on which the cursor can be moved
  bool colour = false;       // on a terminal only, and never with NO_COLOR
  std::size_t columns = 0;   // 0: no limit
  std::size_t rows = 0;
};

Terminal describe_terminal(int fd);

}  // namespace berth
