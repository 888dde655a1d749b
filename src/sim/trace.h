// Traces: workloads from files. CSV with a header (the columns are found by their names, also those
// of the Philly, Helios and Alibaba traces), or the Standard Workload Format; gzipped or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/workload.h"

namespace berth {

struct TraceOptions {
  std::optional<std::string> user;  // only the jobs of this one
  std::size_t first_row = 0;        // of the rows that hold jobs, before any are left out
  std::size_t rows = SIZE_MAX;
  /// Rows that make no sense, and jobs that need more GPUs than `most_gpus`, are left out and
  /// counted instead of being an error.
  bool skip_bad = false;
  std::uint32_t most_gpus = UINT32_MAX;
};

struct Trace {
  Workload workload;
  std::size_t skipped = 0;
  std::string first_skipped;  // why the first one was
};

/// `path` is named in errors, and tells the format by its ending: `.swf` or CSV.
Result<Trace> parse_trace(std::string_view text, const std::string& path,
                          const TraceOptions& options);
Result<Trace> read_trace(const std::string& path, const TraceOptions& options);

/// Text as a cell of a CSV file, in quotes where it must be; its own quotes become single ones.
std::string csv_cell(std::string_view text);

/// The workload in the columns that parse_trace() reads.
std::string to_csv(const Workload& workload);

}  // namespace berth
