// `berth logs --json`: what jobs have written, for programs.
#pragma once

#include <mutex>
#include <vector>

#include "base/result.h"
#include "cli/jobs/submission.h"

namespace berth {

/// {"version":1,"logs":[{"job","attempt","text","size","truncated"}]}: the newest attempts or the
/// one asked for. A job that has not started has attempt 0 and no text.
Result<void> print_logs_json(const std::vector<LogRequest>& requests);

/// {"version":1,"job","attempt","line"} for each line, as it is written. `mutex` guards the output.
Result<void> print_json_lines(const LogRequest& request, std::mutex& mutex);

}  // namespace berth
