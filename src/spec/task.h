// Task: a row of a batch file: which script to run where, for how many epochs, and with which
// priority.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/patience.h"
#include "base/result.h"
#include "core/job_spec.h"
#include "core/recipe.h"
#include "spec/job_line.h"

namespace berth {

struct Task {
  std::size_t line = 0;    // in the file, from 1
  std::string directory;   // absolute
  std::string executable;  // as written: a program in PATH or relative to the directory; arguments
  std::string filename;    // as written: relative to the directory; arguments
  std::vector<std::string> words;  // of both
  std::int64_t epochs = 0;
  std::int32_t priority = 0;  // lower goes first
  std::string fingerprint;    // of the row as written: shows whether the row was changed

  /// The shell command, without the two arguments that are different for each run.
  std::string script() const;
  std::string command(std::int64_t epochs_to_run, std::uint64_t id) const;
};

/// Tasks use about the same memory when they run the same script in the same folder, whatever their
/// epochs and ids. `command` is a result of Task::command().
Recipe task_recipe(std::string_view project, std::string_view command);
Recipe script_recipe(const std::string& script);

/// A short name for a text, for comparisons.
std::string fingerprint_of(std::string_view text);

struct TaskFormat {
  std::optional<std::size_t> header = 0;  // which row, from 0; none: there is no header
  std::string python = "python3";         // for the executable -1
  std::string folder = ".";               // what paths are relative to
  bool files_must_exist = true;
  std::size_t most_tasks = kMostPriority;  // each row is a priority of its own to the scheduler
  Patience patience = {};                  // when it ends, the rest is not read
};

struct TaskList {
  std::vector<Task> tasks;
  std::vector<LineError> problems;  // the first ones, by line; rows with problems are omitted
};

/// The columns Directory, Executable, Filename, Epochs and Priority: in any order under a header,
/// in this order without one.
TaskList parse_tasks(std::string_view text, const TaskFormat& format);
/// All tasks, or an error that names all wrong rows.
Result<std::vector<Task>> read_tasks(std::string_view text, const TaskFormat& format);

}  // namespace berth
