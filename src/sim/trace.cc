#include "sim/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/read_text.h"
#include "sim/trace_columns.h"

namespace berth {
namespace {

constexpr std::uint32_t kMostGpus = 1'000'000;

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

/// Whether the expected length says anything: it is known, and not just the true length.
bool is_stated(const SimJob& job) {
  return job.expected != kForever && (job.stated || job.expected != job.duration);
}

class TraceParser {
 public:
  TraceParser(const std::string& path, const TraceOptions& options)
      : path_(path), options_(options) {}

  Result<Trace> parse(std::string_view text) {
    std::size_t line_number = 0;
    std::size_t row = 0;
    while (!text.empty() && row < end_row()) {
      const std::string_view line = take_line(text);
      ++line_number;
      if (line.find_first_not_of(" \t,") == std::string_view::npos || line.starts_with(';') ||
          line.starts_with('#')) {
        continue;
      }
      if (!columns_) {
        const Result<bool> header = find_columns(line);
        if (!header) {
          return fail(ErrorCode::Usage,
                      fmt::format("{}: line {}: {}", path_, line_number, header.error().message));
        }
        if (*header) {
          continue;
        }
      }
      if (row++ < options_.first_row) {
        continue;
      }
      if (const Result<void> taken = take_row(line); !taken) {
        const std::string why =
            fmt::format("{}: line {}: {}", path_, line_number, taken.error().message);
        if (!options_.skip_bad) {
          return fail(ErrorCode::Usage, why + " (--skip-bad skips such rows)");
        }
        trace_.first_skipped = trace_.skipped++ == 0 ? why : trace_.first_skipped;
      }
    }
    if (!columns_) {
      return fail(ErrorCode::Usage, path_ + ": the file is empty");
    }
    sort_by_time();
    return std::move(trace_);
  }

 private:
  std::size_t end_row() const {
    return options_.rows > SIZE_MAX - options_.first_row ? SIZE_MAX
                                                         : options_.first_row + options_.rows;
  }

  /// Whether the line is a header; a workload in the standard format has none.
  Result<bool> find_columns(std::string_view line) {
    if (path_.ends_with(".swf") || path_.ends_with(".swf.gz")) {
      columns_ = TraceColumns::standard_workload();
      return false;
    }
    Result<TraceColumns> found = TraceColumns::from_header(line);
    if (!found) {
      return Failure(found.error());
    }
    columns_ = *std::move(found);
    return true;
  }

  Result<void> take_row(std::string_view line) {
    Result<TraceRow> row = columns_->parse(line);
    if (!row) {
      return Failure(row.error());
    }
    if (options_.user && row->user != *options_.user) {
      return {};
    }
    SimJob& job = row->job;
    if (job.gpus > std::min(options_.most_gpus, kMostGpus)) {
      return fail(
          ErrorCode::Usage,
          fmt::format("column {}: the job needs {} GPUs, but there are only {}",
                      columns_->name_of_gpus(), job.gpus, std::min(options_.most_gpus, kMostGpus)));
    }
    const auto [owner, added] = owners_.try_emplace(
        std::string(row->user), static_cast<std::uint32_t>(trace_.workload.owners.size()));
    if (added) {
      trace_.workload.owners.push_back(owner->first);
    }
    job.owner = owner->second;
    if (!trace_.workload.jobs.empty() && job.submit < trace_.workload.jobs.back().submit) {
      sorted_ = false;
    }
    trace_.workload.jobs.push_back(job);
    trace_.workload.names.emplace_back(row->name);
    return {};
  }

  void sort_by_time() {
    if (sorted_) {
      return;
    }
    Workload& workload = trace_.workload;
    std::vector<std::size_t> order(workload.jobs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return workload.jobs[a].submit < workload.jobs[b].submit;
    });
    Workload sorted{{}, workload.owners, {}};
    for (const std::size_t i : order) {
      sorted.jobs.push_back(workload.jobs[i]);
      sorted.names.push_back(std::move(workload.names[i]));
    }
    workload = std::move(sorted);
  }

  const std::string& path_;
  const TraceOptions& options_;
  std::optional<TraceColumns> columns_;
  std::map<std::string, std::uint32_t, std::less<>> owners_{{"", 0}};
  bool sorted_ = true;
  Trace trace_;
};

}  // namespace

Result<Trace> parse_trace(std::string_view text, const std::string& path,
                          const TraceOptions& options) {
  return TraceParser(path, options).parse(text);
}

Result<Trace> read_trace(const std::string& path, const TraceOptions& options) {
  const Result<std::string> text = read_text(path);
  if (!text) {
    return Failure(text.error());
  }
  return parse_trace(*text, path, options);
}

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  std::replace(cell.begin(), cell.end(), '"', '\'');
  // A line that begins with one of these would be a comment.
  const bool quoted =
      cell.find(',') != std::string::npos || cell.starts_with('#') || cell.starts_with(';');
  return quoted ? "\"" + cell + "\"" : cell;
}

std::string to_csv(const Workload& workload) {
  std::string csv =
      "job_id,user,submit_s,duration_s,gpus,gpu_mem_mib,gpu_milli,priority,status,expected_s,"
      "weight\n";
  const auto unless_zero = [](std::uint32_t n) { return n == 0 ? "" : std::to_string(n); };
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const SimJob& job = workload.jobs[i];
    csv += fmt::format("{},{},{},{},{},{},{},{},,{},{}\n",
                       workload.names.empty() ? std::to_string(i + 1) : csv_cell(workload.names[i]),
                       csv_cell(workload.owners[job.owner]),
                       to_seconds(job.submit.time_since_epoch()), to_seconds(job.duration),
                       job.gpus, unless_zero(job.memory_mib), unless_zero(job.share), -job.priority,
                       is_stated(job) ? fmt::format("{}", to_seconds(job.expected)) : "",
                       job.weight == 1 ? "" : std::to_string(job.weight));
  }
  return csv;
}

}  // namespace berth
