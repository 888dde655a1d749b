// Traces: workloads from files. A file is CSV with a header, or in the Standard Workload Format. It
// may be gzipped. CSV columns are found by their names, including those of the Philly, Helios and
// Alibaba traces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/workload.h"

namespace berth {

struct TraceOptions {
  std::optional<std::string> user;  // only this user's jobs
  std::size_t first_row = 0;        // among the rows with jobs, before any are omitted
  std::size_t rows = SIZE_MAX;
  /// Omits and counts rows that make no sense and jobs that need more GPUs than `most_gpus`.
  /// Without it, they are errors.
  bool skip_bad = false;
  std::uint32_t most_gpus = UINT32_MAX;
};

struct Trace {
  Workload workload;
  std::size_t skipped = 0;
  std::string first_skipped;  // why the first row was skipped
};

/// Errors name `path`. Its ending tells the format: `.swf` or CSV.
Result<Trace> parse_trace(std::string_view text, const std::string& path,
                          const TraceOptions& options);
Result<Trace> read_trace(const std::string& path, const TraceOptions& options);

/// Text as a cell of a CSV file, in quotes if needed. Double quotes in the text become single ones.
std::string csv_cell(std::string_view text);

/// The workload in the columns that parse_trace() reads.
std::string to_csv(const Workload& workload);

}  // namespace berth
