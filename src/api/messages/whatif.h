// POST /v1/whatif: jobs in the simulator under other policies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth {

struct WhatifRequest {
  std::vector<std::string> policies;  // empty: the usual ones
  bool queue = true;                  // the current queue, or past jobs
  std::string gpus;                   // empty: the daemon's own
};
/// Checks that names are words that can name no file, because the client need not be the daemon's
/// user.
Result<WhatifRequest> parse_whatif_request(std::string_view json);

/// The results, by name: `mean_wait_s` and so on.
struct WhatifFigures {
  std::vector<std::pair<std::string, double>> values;
};

/// The answer, which `berth sim --json` and `berth whatif --json` print.
struct WhatifReply {
  struct Span {
    std::string job;  // its number, or its name in a trace
    std::vector<std::string> gpus;
    double from = 0;
    double to = 0;
  };
  struct Row {
    std::string policy;
    std::string placement;
    std::uint64_t jobs = 0;
    std::uint64_t runs = 0;
    WhatifFigures figures;                   // means over the runs
    std::optional<WhatifFigures> ci95;       // of several runs: half the width of the interval
    std::optional<std::vector<Span>> spans;  // of the first run; only when asked for
  };
  std::uint64_t gpus = 0;  // how many
  std::uint64_t skipped_rows = 0;
  std::vector<Row> results;
};
std::string to_json(const WhatifReply& reply);
Result<WhatifReply> parse_whatif_reply(std::string_view json);

}  // namespace berth
