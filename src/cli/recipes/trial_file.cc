#include "cli/recipes/trial_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bounds.h"
#include "base/read_file.h"
#include "spec/csv.h"

namespace berth {
namespace {

/// About half a million jobs.
constexpr std::size_t kLongestTrial = std::size_t{64} << 20;
constexpr double kMostMib = 1e9;
constexpr double kMostSeconds = 1e9;

struct Columns {
  std::optional<std::size_t> project;
  std::optional<std::size_t> command;
  std::optional<std::size_t> peak;
  std::optional<std::size_t> seconds;
};

Failure at_line(std::size_t line, std::string_view what) {
  return fail(ErrorCode::Usage, fmt::format("line {}: {}", line, what));
}

Result<Columns> read_header(const CsvRecord& header) {
  const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::find(header.fields.begin(), header.fields.end(), name);
    if (found == header.fields.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - header.fields.begin());
  };
  const Columns columns = {find("project"), find("command"), find("peak_mib"), find("seconds")};
  if (!columns.command || !columns.peak) {
    return at_line(header.line,
                   "the first line must name the columns command and peak_mib, and may name "
                   "project and seconds");
  }
  return columns;
}

/// An empty field is an empty text, and so is one that the line does not reach.
std::string_view field(const CsvRecord& record, std::optional<std::size_t> column) {
  return column && *column < record.fields.size() ? std::string_view(record.fields[*column])
                                                  : std::string_view();
}

Result<TrialJob> read_job(const CsvRecord& record, const Columns& columns) {
  TrialJob job;
  const std::string_view command = field(record, columns.command);
  if (command.empty()) {
    return at_line(record.line, "there is no command");
  }
  const std::string_view project = field(record, columns.project);
  if (command.size() > kLongestCommand || project.size() > kLongestName) {
    return at_line(record.line, "the command or the project is longer than that of any job");
  }
  if (project.find('\n') != project.npos) {
    return at_line(record.line, "a project is one line");
  }
  job.recipe = recipe_of(project, command);
  const std::string_view length = field(record, columns.seconds);
  if (const std::string_view text = field(record, columns.peak); !text.empty() || length.empty()) {
    const Result<double> peak = parse_real(text, "peak_mib");
    if (!peak) {
      return at_line(record.line, peak.error().message);
    }
    if (!(*peak > 0 && *peak <= kMostMib)) {
      return at_line(record.line, "peak_mib must be more than 0 and at most a billion");
    }
    job.peak = Bytes{static_cast<std::int64_t>(std::ceil(*peak * 1048576))};
  }
  if (const std::string_view text = length; !text.empty()) {
    const Result<double> seconds = parse_real(text, "seconds");
    if (!seconds) {
      return at_line(record.line, seconds.error().message);
    }
    if (!(*seconds >= 0 && *seconds <= kMostSeconds)) {
      return at_line(record.line, "seconds must be from 0 to a billion");
    }
    job.seconds = *seconds;
  }
  return job;
}

}  // namespace

Result<std::vector<TrialJob>> parse_trial(std::string_view text) {
  CsvReader reader(text);
  std::optional<Columns> columns;
  std::vector<TrialJob> jobs;
  while (const std::optional<CsvRecord> record = reader.next()) {
    if (!columns) {
      const Result<Columns> header = read_header(*record);
      if (!header) {
        return Failure(header.error());
      }
      columns = *header;
      continue;
    }
    Result<TrialJob> job = read_job(*record, *columns);
    if (!job) {
      return Failure(job.error());
    }
    jobs.push_back(std::move(*job));
  }
  if (!reader.problems().empty()) {
    return at_line(reader.problems()[0].line, reader.problems()[0].message);
  }
  if (jobs.empty()) {
    return fail(ErrorCode::Usage, "there are no jobs in it: a line for each, below the header");
  }
  return jobs;
}

Result<std::vector<TrialJob>> read_trial(const std::string& path) {
  const Result<std::string> text = read_file(path, kLongestTrial);
  if (!text) {
    return Failure(text.error());
  }
  Result<std::vector<TrialJob>> jobs = parse_trial(*text);
  if (!jobs) {
    return fail(jobs.error().code, fmt::format("{}: {}", path, jobs.error().message));
  }
  return jobs;
}

}  // namespace berth
