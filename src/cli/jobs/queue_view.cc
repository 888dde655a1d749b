#include "cli/jobs/queue_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/jobs/job_words.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/words.h"

namespace berth {
namespace {

bool has_ended(const JobReport& job) { return job.ended > 0; }
bool has_started(const JobReport& job) { return job.started > 0; }

/// The devices that it has, or how many it wants of which there are several.
std::string gpu_words(const JobReport& job) {
  const std::uint32_t wanted = job.description.spec.needs.gpus;
  if (!job.gpus.empty()) {
    return joined(job.gpus);
  }
  return wanted == 0 ? "none" : wanted == 1 ? "any" : fmt::format("any {}", wanted);
}

/// What it has used at most, or, before that is seen, what it claims.
std::string memory_words(const JobReport& job) {
  const Bytes claim = job.description.spec.needs.memory;
  return job.peak > Bytes{} ? "used " + format_bytes(job.peak)
         : claim > Bytes{}  ? "needs " + format_bytes(claim)
                            : "";
}

std::string time_words(const JobReport& job) {
  return fmt::format("{} {}",
                     has_ended(job)     ? has_started(job) ? "ran" : "waited"
                     : has_started(job) ? "runs"
                                        : "waits",
                     age_of(job));
}

std::string priority_words(const JobReport& job) {
  return job.description.spec.priority == 0 ? "" : fmt::format("{}", job.description.spec.priority);
}

struct QueueRow {
  const JobReport& job;
  const std::string& name;
};

struct QueueColumn {
  std::string_view name;
  std::string_view header;
  Align align;
  bool optional;  // vanishes where it has nothing to say
  bool usual;     // shown unless --columns says otherwise
  Cell (*cell)(const QueueRow&);
};

constexpr std::array kQueueColumns = {
    QueueColumn{"id", "ID", Align::Right, false, true,
                [](const QueueRow& row) { return Cell(std::to_string(row.job.id.value)); }},
    QueueColumn{"state", "STATE", Align::Left, false, true,
                [](const QueueRow& row) {
                  const std::string state = state_of(row.job);
                  return Cell(state, colour_of(state));
                }},
    QueueColumn{"name", "NAME", Align::Left, true, true,
                [](const QueueRow& row) { return Cell(row.name); }},
    QueueColumn{"user", "USER", Align::Left, true, false,
                [](const QueueRow& row) { return Cell(user_of(row.job)); }},
    QueueColumn{"gpus", "GPUS", Align::Left, false, true,
                [](const QueueRow& row) { return Cell(gpu_words(row.job)); }},
    QueueColumn{"memory", "MEMORY", Align::Left, true, true,
                [](const QueueRow& row) { return Cell(memory_words(row.job)); }},
    QueueColumn{"priority", "PRIO", Align::Right, true, true,
                [](const QueueRow& row) { return Cell(priority_words(row.job)); }},
    QueueColumn{"time", "TIME", Align::Left, false, true,
                [](const QueueRow& row) { return Cell(time_words(row.job)); }},
    QueueColumn{"start", "STARTS", Align::Left, true, true,
                [](const QueueRow& row) { return Cell(expected_start_of(row.job)); }},
    QueueColumn{
        "exit", "EXIT", Align::Right, true, true,
        [](const QueueRow& row) { return Cell(exit_words(row.job.exit_code, row.job.signal)); }},
    QueueColumn{"command", "COMMAND", Align::Left, false, true,
                [](const QueueRow& row) { return Cell(row.job.description.command); }},
};

const QueueColumn* find_column(std::string_view name) {
  const auto found = std::find_if(kQueueColumns.begin(), kQueueColumns.end(),
                                  [&](const QueueColumn& column) { return column.name == name; });
  return found == kQueueColumns.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string_view> queue_columns() {
  std::vector<std::string_view> names;
  for (const QueueColumn& column : kQueueColumns) {
    names.push_back(column.name);
  }
  return names;
}

Result<std::vector<std::string>> parse_queue_columns(std::string_view text) {
  std::vector<std::string> columns;
  for (const std::string_view name : split(text, ',')) {
    if (find_column(name) == nullptr) {
      return fail(ErrorCode::Usage, fmt::format("there is no column '{}': use some of {}", name,
                                                fmt::join(queue_columns(), ",")));
    }
    columns.emplace_back(name);
  }
  if (columns.empty()) {
    return fail(ErrorCode::Usage, "its value is empty; omit the option for the usual columns");
  }
  return columns;
}

std::vector<std::string> telling_names(const std::vector<JobReport>& jobs) {
  // The values of each parameter of each sweep.
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  std::map<std::string, std::size_t> members;
  for (const JobReport& job : jobs) {
    const JobDescription& told = job.description;
    if (!told.sweep.empty()) {
      ++members[told.sweep];
    }
    for (const auto& [parameter, value] : told.parameters) {
      values[told.sweep][parameter].insert(value);
    }
  }
  std::vector<std::string> names;
  for (const JobReport& job : jobs) {
    const JobDescription& told = job.description;
    std::string differs;
    for (const auto& [parameter, value] : told.parameters) {
      if (members[told.sweep] <= 1 || values[told.sweep][parameter].size() > 1) {
        differs += fmt::format("{}{}={}", differs.empty() ? "" : " ", parameter, value);
      }
    }
    std::string name = full_name_of(job);
    if (!differs.empty()) {
      // Where all jobs are of one sweep, its name says nothing about any of them.
      const bool one_sweep = jobs.size() > 1 && members[told.sweep] == jobs.size();
      name = one_sweep ? differs : name + (name.empty() ? "" : " ") + differs;
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string queue_table(const std::vector<JobReport>& jobs, const std::vector<std::string>& columns,
                        const Terminal& terminal) {
  std::vector<const QueueColumn*> shown;
  for (const std::string& name : columns) {
    shown.push_back(find_column(name));
  }
  for (const QueueColumn& column : kQueueColumns) {
    if (columns.empty() && column.usual) {
      shown.push_back(&column);
    }
  }
  Table table;
  for (const QueueColumn* column : shown) {
    if (column->name == "command") {
      table.yielding_column(std::string(column->header));
    } else if (column->optional && columns.empty()) {
      table.optional_column(std::string(column->header), column->align);
    } else {
      table.column(std::string(column->header), column->align);
    }
  }
  const std::vector<std::string> names = telling_names(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<Cell> cells;
    for (const QueueColumn* column : shown) {
      cells.push_back(column->cell({jobs[i], names[i]}));
    }
    table.row(std::move(cells));
  }
  return table.render(terminal.columns, terminal.colour);
}

}  // namespace berth
