// POST /v1/whatif, as a message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

struct WhatifRequest {
  std::vector<std::string> policies;  // none: the usual ones
  bool queue = true;                  // the present queue, or the past
  std::string gpus;                   // empty: the daemon's own
};
/// Names are checked to be words that can name no file: whoever asks need not be the daemon's user.
Result<WhatifRequest> parse_whatif_request(std::string_view json);

}  // namespace berth
