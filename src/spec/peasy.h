// The batch format of GPUPeasy: each job is `NAME;;OUTFILE;;COMMAND;;;`, over as many lines as one
// likes. Blanks around the parts do not count; a command may have several lines, but no `;;`.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/patience.h"
#include "spec/job_line.h"

namespace berth {

struct PeasyJob {
  std::size_t line = 0;  // where it starts, from 1
  std::string name;
  std::string output;  // empty: not said
  std::string command;
};

struct PeasyText {
  std::vector<PeasyJob> jobs;
  std::vector<LineError> problems;  // such jobs are left out
};

/// How much is read; what follows is not looked at.
struct PeasyLimits {
  std::size_t jobs = std::numeric_limits<std::size_t>::max();
  std::size_t problems = 1000;
  Patience patience = {};
};

PeasyText parse_peasy(std::string_view text, const PeasyLimits& limits = {});

}  // namespace berth
