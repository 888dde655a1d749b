// What the jobs of a grid have found: each job's parameters beside the last values in its log. For
// grids as GPUPeasy's gridgen writes them: a CSV file with a column per parameter and the column
// JOB_DIR, where the job's log is. Pure, usable from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

struct GridPoints {
  std::vector<std::string> columns;            // of the parameters, and JOB_DIR
  std::vector<std::vector<std::string>> rows;  // as many fields as columns
  std::size_t folder = 0;                      // which column is JOB_DIR
};

Result<GridPoints> parse_grid(std::string_view csv);

/// The last value of `key` in a log: what follows `key: `, `key=`, `key ` or `"key": `. Nothing if
/// the log does not mention it.
std::optional<std::string> last_value(std::string_view log, std::string_view key);

}  // namespace berth
