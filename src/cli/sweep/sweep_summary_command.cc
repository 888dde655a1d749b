#include "cli/sweep/sweep_summary_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/read_file.h"
#include "cli/sweep/sweep_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "spec/csv.h"
#include "spec/sweep_summary.h"

namespace berth {
namespace {

constexpr std::string_view kSummaryName = "berth sweep";

struct SummaryCommand {
  std::string grid;
  std::vector<std::string> keys;
  std::string log = "gpupeasy_logs.out";
  bool csv = false;
};

Args summary_args(SummaryCommand& command) {
  Args args(
      "berth sweep --summarize GRID --key NAME… [options]",
      "Prints the parameters of each job of a grid beside the last values in its log. GRID is\n"
      "the CSV file of the grid, with a column for each parameter and the column JOB_DIR, or\n"
      "the folder PROJECT with PROJECT.csv in it.");
  args.value("--summarize", "GRID", "the file or folder of the grid", command.grid);
  args.list("--key", "NAME…", "the values to look for: what follows NAME: or NAME= in a log",
            [&command](std::span<const std::string_view> names) -> Result<void> {
              command.keys.insert(command.keys.end(), names.begin(), names.end());
              return {};
            });
  args.value("--log", "NAME", "the log in each JOB_DIR (default: gpupeasy_logs.out)", command.log);
  args.flag("--csv", command.csv, "print CSV, not a table");
  args.example("berth sweep --summarize exps/ExA1 --key val_acc loss");
  args.example("berth sweep --summarize ExA1.csv --key val_acc --csv > results.csv");
  return args;
}

/// The CSV file of a project's folder; other paths stay.
std::string grid_file(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    path += "/" + path.substr(path.rfind('/') + 1) + ".csv";
  }
  return path;
}

/// Adds the values to the rows of the grid; how many jobs have no log.
std::size_t add_values(GridPoints& grid, const SummaryCommand& command) {
  std::size_t without = 0;
  for (std::vector<std::string>& row : grid.rows) {
    const Result<std::string> log = read_file(row[grid.folder] + "/" + command.log);
    without += log ? 0 : 1;
    for (const std::string& key : command.keys) {
      row.push_back(log ? last_value(*log, key).value_or("") : "");
    }
  }
  grid.columns.insert(grid.columns.end(), command.keys.begin(), command.keys.end());
  return without;
}

std::string as_csv(const GridPoints& grid) {
  std::string text;
  const auto add = [&text](const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text += (i == 0 ? "" : ",") + csv_field(fields[i]);
    }
    text += "\n";
  };
  add(grid.columns);
  for (const std::vector<std::string>& row : grid.rows) {
    add(row);
  }
  return text;
}

std::string as_table(const GridPoints& grid) {
  Table table;
  for (const std::string& column : grid.columns) {
    table.column(printable(column));
  }
  for (const std::vector<std::string>& row : grid.rows) {
    std::vector<Cell> cells;
    for (const std::string& field : row) {
      cells.emplace_back(field.empty() ? "-" : printable(field));
    }
    table.row(std::move(cells));
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  return table.render(terminal.columns, terminal.colour);
}

Result<void> summarize(const SummaryCommand& command) {
  if (command.keys.empty()) {
    return fail(ErrorCode::Usage, "which values? say --key NAME, as the logs name them");
  }
  const std::string path = grid_file(command.grid);
  const Result<std::string> text = read_file(path);
  if (!text) {
    return Failure(text.error());
  }
  Result<GridPoints> grid = parse_grid(*text);
  if (!grid) {
    return fail(grid.error().code, fmt::format("{}: {}", path, grid.error().message));
  }
  const std::size_t without = add_values(*grid, command);
  write_out(command.csv ? as_csv(*grid) : as_table(*grid));
  if (without > 0) {
    fmt::print(stderr, "{}: {} of {} jobs have no {} yet\n", kSummaryName, without,
               grid->rows.size(), command.log);
  }
  return {};
}

}  // namespace

int summarize_main(Words words) {
  SummaryCommand command;
  const Result<bool> parsed = summary_args(command).parse(words);
  if (!parsed) {
    return report(kSummaryName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<void> done = summarize(command);
  return done ? 0 : report(kSummaryName, done.error());
}

}  // namespace berth
