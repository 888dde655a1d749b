// The batch format of GPUPeasy: each job is `NAME;;OUTFILE;;COMMAND;;;`, over any number of lines.
// Blanks around the parts are ignored. A command over several lines is one command, its lines
// joined by blanks; it has no `;;`.
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
  std::string output;  // empty: not given
  std::string command;
};

struct PeasyText {
  std::vector<PeasyJob> jobs;
  std::vector<LineError> problems;  // jobs with problems are omitted
};

/// How much is read; the rest is ignored.
struct PeasyLimits {
  std::size_t jobs = std::numeric_limits<std::size_t>::max();
  std::size_t problems = 1000;
  Patience patience = {};
};

PeasyText parse_peasy(std::string_view text, const PeasyLimits& limits = {});

}  // namespace berth
