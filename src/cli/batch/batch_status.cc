// `berth batch --status`: how far a file has come.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>

#include "api/json_writer.h"
#include "cli/batch/batch_daemon.h"
#include "cli/batch/batch_options.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

enum class TaskStanding { Waiting, Running, Interrupted, Succeeded, Failed, Submitted };
constexpr std::array<std::string_view, 6> kStandings = {"waiting",   "running", "interrupted",
                                                        "succeeded", "failed",  "submitted"};
constexpr std::array<Colour, 6> kColours = {Colour::Dim,   Colour::Green, Colour::Yellow,
                                            Colour::Plain, Colour::Red,   Colour::Plain};

struct Row {
  const Task* task = nullptr;
  RowRecord record;
  TaskStanding standing = TaskStanding::Waiting;
  std::size_t batch = 0;  // from 1; 0: not taken yet
  std::uint64_t id = 0;
};

TaskStanding standing_of(const RowRecord& record, const Task& task, bool live) {
  switch (record.state) {
    case RowState::Waiting:
      return TaskStanding::Waiting;
    case RowState::Running:
      return live ? TaskStanding::Running : TaskStanding::Interrupted;
    case RowState::Failed:
      return is_pending(record, task, false) ? TaskStanding::Waiting : TaskStanding::Failed;
    case RowState::Succeeded:
      return TaskStanding::Succeeded;
    case RowState::Submitted:
      return TaskStanding::Submitted;
  }
  return TaskStanding::Waiting;
}

/// Of a row that was queued in the daemon. One that the daemon has forgotten stays as it was.
void ask_daemon_about(std::vector<Row>& rows) {
  std::vector<std::uint64_t> jobs;
  for (const Row& row : rows) {
    if (row.standing == TaskStanding::Submitted) {
      jobs.push_back(row.record.job);
    }
  }
  if (jobs.empty()) {
    return;
  }
  const std::map<std::uint64_t, QueuedTask> known = look_up_tasks(jobs);
  for (Row& row : rows) {
    const auto job =
        row.standing == TaskStanding::Submitted ? known.find(row.record.job) : known.end();
    if (job == known.end() || job->second.waits()) {
      continue;
    }
    const std::string& state = job->second.state;
    row.standing = state == "succeeded" ? TaskStanding::Succeeded
                   : job->second.runs() ? TaskStanding::Running
                                        : TaskStanding::Failed;
    row.record.reason = row.standing == TaskStanding::Failed ? job->second.reason : "";
  }
}

std::vector<Row> rows_of(const std::vector<Task>& tasks, const BatchProgress& progress, bool live) {
  std::vector<Row> rows;
  std::size_t batch = 0;
  for (std::size_t row = 0; row < tasks.size(); ++row) {
    while (batch < progress.batches.size() && row >= progress.batches[batch].end()) {
      ++batch;
    }
    const RowRecord record = progress.row(row);
    Row shown{&tasks[row], record, standing_of(record, tasks[row], live), 0, 0};
    if (batch < progress.batches.size()) {
      const BatchSpan& span = progress.batches[batch];
      shown.batch = batch + 1;
      shown.id = span.first_id + (row - span.first);
    }
    rows.push_back(std::move(shown));
  }
  return rows;
}

std::string describe_counts(const std::array<std::size_t, kStandings.size()>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], kStandings[i]);
    }
  }
  return text.empty() ? "no rows" : text;
}

void print_row_table(const std::vector<Row>& rows) {
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  Table table;
  table.column("LINE", Align::Right);
  table.column("BATCH", Align::Right);
  table.column("ID", Align::Right);
  table.column("STATE");
  table.column("PRIORITY", Align::Right);
  table.column("EPOCHS", Align::Right);
  table.column("TASK");
  for (const Row& row : rows) {
    const auto number = [](std::uint64_t value) {
      return value == 0 ? std::string() : std::to_string(value);
    };
    const auto at = static_cast<std::size_t>(row.standing);
    std::string state(kStandings[at]);
    if (row.standing == TaskStanding::Failed) {
      state += fmt::format(" ({})", row.record.reason);
    } else if (row.standing == TaskStanding::Submitted) {
      state += fmt::format(" (job {})", row.record.job);
    }
    table.row({std::to_string(row.task->line), number(row.batch), number(row.id),
               Cell(printable(state), kColours[at]), std::to_string(row.task->priority),
               std::to_string(row.task->epochs),
               printable(row.task->directory + "/" + row.task->filename)});
  }
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
}

void print_rows_json(const BatchCommand& command, const std::vector<Row>& rows,
                     const std::array<std::size_t, kStandings.size()>& counts, bool live) {
  // 0 is none.
  const auto number = [](std::uint64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
  };
  JsonWriter json(2);
  json.object([&] {
    json.field("version", 1);
    json.field("file", command.file);
    json.field("running", live);
    json.object("counts", [&] {
      for (std::size_t i = 0; i < counts.size(); ++i) {
        json.field(kStandings[i], counts[i]);
      }
    });
    json.array("rows", [&] {
      for (const Row& row : rows) {
        json.object([&] {
          json.field("line", row.task->line);
          json.field("batch", number(row.batch));
          json.field("id", number(row.id));
          json.field("state", kStandings[static_cast<std::size_t>(row.standing)]);
          json.field("reason", row.standing == TaskStanding::Failed
                                   ? std::optional(row.record.reason)
                                   : std::nullopt);
          json.field("job", number(row.record.job));
          json.field("directory", row.task->directory);
          json.field("executable", row.task->executable);
          json.field("filename", row.task->filename);
          json.field("epochs", row.task->epochs);
          json.field("priority", row.task->priority);
        });
      }
    });
  });
  const std::string text = json.take() + "\n";
  std::fputs(text.c_str(), stdout);
}

}  // namespace

Result<int> show_batch(const BatchCommand& command, const std::vector<Task>& tasks) {
  bool live = false;
  const Result<BatchProgress> progress = BatchJournal::look(command.journal(), live);
  if (!progress) {
    return Failure(progress.error());
  }
  std::vector<Row> rows = rows_of(tasks, *progress, live);
  ask_daemon_about(rows);
  std::array<std::size_t, kStandings.size()> counts{};
  for (const Row& row : rows) {
    ++counts[static_cast<std::size_t>(row.standing)];
  }
  if (!command.json) {
    print_row_table(rows);
    fmt::print("\n{}{}\n", describe_counts(counts), live ? "; a berth batch is running it" : "");
    return 0;
  }
  print_rows_json(command, rows, counts, live);
  return 0;
}

}  // namespace berth
