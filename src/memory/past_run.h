// PastRun: what is kept of a job that ended well, and the line of the peaks file that holds it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/units.h"
#include "core/recipe.h"

namespace berth {

struct PastRun {
  Recipe recipe;
  Bytes peak;                      // on the device where it used most; 0: not measured
  std::optional<Duration> length;  // whole milliseconds; nothing: not measured
  std::uint32_t user = 0;          // whose job it was, if its length is there
};

/// With a newline at its end.
std::string line_of(const PastRun& run);
/// Reads a line without its newline. Nothing for a line that makes no sense: somebody may have died
/// while writing it, or it may be of a later version.
std::optional<PastRun> parse_past_run(std::string_view line);

}  // namespace berth
