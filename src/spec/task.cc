#include "spec/task.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/units.h"
#include "core/job_spec.h"
#include "spec/csv.h"
#include "spec/shell_words.h"

namespace berth {
namespace {

enum Column { kDirectory, kExecutable, kFilename, kEpochs, kPriority, kColumns };
constexpr std::array<std::string_view, kColumns> kColumnNames = {"Directory", "Executable",
                                                                 "Filename", "Epochs", "Priority"};
using Places = std::array<std::size_t, kColumns>;

constexpr std::string_view kEpochsArgument = " --epochs=";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

Result<Places> find_columns(const CsvRecord& header) {
  Places places{};
  std::vector<std::string_view> missing;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto found = std::find_if(
        header.fields.begin(), header.fields.end(),
        [&](const std::string& field) { return lower(field) == lower(kColumnNames[column]); });
    if (found == header.fields.end()) {
      missing.push_back(kColumnNames[column]);
    }
    places[column] = static_cast<std::size_t>(found - header.fields.begin());
  }
  if (missing.empty()) {
    return places;
  }
  return fail(ErrorCode::Usage,
              fmt::format("the header in line {} has no column {}: it needs {}; --header ROW says "
                          "where it is (from 0), --header None that there is none",
                          header.line, fmt::join(missing, ", "), fmt::join(kColumnNames, ", ")));
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

bool is_program(const std::string& path) {
  return is_file(path) && ::access(path.c_str(), X_OK) == 0;
}

std::string in_folder(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : folder + "/" + path;
}

bool is_on_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    if (is_program(in_folder(std::string(folders.substr(0, end)), name))) {
      return true;
    }
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

bool is_executable(const std::string& folder, const std::string& name) {
  return name.find('/') != name.npos ? is_program(in_folder(folder, name)) : is_on_path(name);
}

/// Reads one row after the other, and gathers what is wrong with them.
class RowReader {
 public:
  explicit RowReader(const TaskFormat& format) : format_(format) {}

  std::size_t tasks() const { return tasks_.size(); }
  std::size_t problems() const { return problems_.size(); }

  void read(const CsvRecord& record, const Places& places, std::size_t columns) {
    const std::size_t wrong = problems_.size();
    line_ = record.line;
    if (record.fields.size() != columns) {
      complain(fmt::format("has {} column{}, not {}", record.fields.size(),
                           record.fields.size() == 1 ? "" : "s", columns));
      return;
    }
    const auto field = [&](Column column) { return record.fields[places[column]]; };
    std::string written;
    for (std::size_t column = 0; column < kColumns; ++column) {
      written += record.fields[places[column]] + '\0';
    }
    if (std::count(written.begin(), written.end(), '\0') != kColumns ||
        find_invalid_utf8(written) != written.npos || written.size() > kLongestCommand / 8) {
      complain("is no text, or far too long");
      return;
    }
    Task task;
    task.line = record.line;
    task.fingerprint = fingerprint_of(written);
    task.executable = field(kExecutable) == "-1" ? format_.python : field(kExecutable);
    task.filename = field(kFilename);
    task.epochs = number(field(kEpochs), kEpochs, 1, std::int64_t{1} << 53);
    task.priority = static_cast<std::int32_t>(
        number(field(kPriority), kPriority, -kMostPriority, kMostPriority));
    check_paths(task, field(kDirectory));
    if (problems_.size() == wrong) {
      tasks_.push_back(std::move(task));
    }
  }

  TaskList finish(std::vector<LineError> with_quotes) {
    std::move(with_quotes.begin(), with_quotes.end(), std::back_inserter(problems_));
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const LineError& a, const LineError& b) { return a.line < b.line; });
    return {std::move(tasks_), std::move(problems_)};
  }

 private:
  void complain(std::string message) { problems_.push_back({line_, std::move(message)}); }

  std::int64_t number(const std::string& text, Column column, std::int64_t least,
                      std::int64_t most) {
    const Result<std::int64_t> value = parse_integer(text, kColumnNames[column]);
    if (value && *value >= least && *value <= most) {
      return *value;
    }
    complain(fmt::format("has '{}' as {}: that must be a whole number{}", text,
                         kColumnNames[column],
                         value ? fmt::format(" from {} to {}", least, most) : ""));
    return least;
  }

  void check_paths(Task& task, const std::string& directory) {
    std::error_code error;
    task.directory =
        std::filesystem::absolute(
            std::filesystem::path(format_.folder) / (directory.empty() ? "." : directory), error)
            .lexically_normal();
    if (task.directory.size() > 1 && task.directory.ends_with('/')) {
      task.directory.pop_back();  // one folder, one name: its scripts are profiled once
    }
    const bool look = format_.files_must_exist;
    const std::vector<std::string> program = words_of(
        task.executable, kExecutable, look && is_executable(task.directory, task.executable));
    const std::vector<std::string> script = words_of(
        task.filename, kFilename, look && is_file(in_folder(task.directory, task.filename)));
    if (directory.empty() || error || (look && !is_folder(task.directory))) {
      complain(directory.empty()
                   ? "has no Directory"
                   : fmt::format("has the Directory '{}', which is not there", directory));
    } else if (script.empty() || (look && !is_file(in_folder(task.directory, script.front())))) {
      complain(script.empty() ? "has no Filename"
                              : fmt::format("has the Filename '{}', which is not in {}",
                                            script.front(), task.directory));
    }
    if (program.empty()) {
      complain("has no Executable (-1 is the default one)");
    } else if (look && !is_executable(task.directory, program.front())) {
      complain(fmt::format(
          "has the Executable '{}', which is not {}", program.front(),
          program.front().find('/') != std::string::npos ? "a program" : "in the PATH"));
    }
    task.words = program;
    task.words.insert(task.words.end(), script.begin(), script.end());
  }

  /// Arguments may follow, as in a shell. A text that is a name `as_a_whole` has none.
  std::vector<std::string> words_of(const std::string& text, Column column, bool as_a_whole) {
    if (as_a_whole) {
      return {text};
    }
    Result<std::vector<std::string>> words = split_shell_words(text);
    if (!words) {
      complain(
          fmt::format("has '{}' as {}: {}", text, kColumnNames[column], words.error().message));
      return {text};
    }
    return std::move(*words);
  }

  const TaskFormat& format_;
  std::vector<LineError> problems_;
  std::vector<Task> tasks_;
  std::size_t line_ = 0;
};

}  // namespace

std::string Task::script() const {
  const std::array<std::string_view, 1> folder = {directory};
  return fmt::format("cd {} && exec {}", shell_words(folder),
                     shell_words(std::span<const std::string>(words)));
}

std::string Task::command(std::int64_t epochs_to_run, std::uint64_t id) const {
  return fmt::format("{}{}{} --id={}", script(), kEpochsArgument, epochs_to_run, id);
}

Recipe script_recipe(const std::string& script) { return {"batch\n" + script, {}}; }

Recipe task_recipe(std::string_view, std::string_view command) {
  return script_recipe(std::string(command.substr(0, command.rfind(kEpochsArgument))));
}

std::string fingerprint_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

namespace {

/// An error when no row can be read at all.
Result<TaskList> parse_rows(std::string_view text, const TaskFormat& format) {
  constexpr std::size_t kRowsBetweenLooks = 100;  // rows: files may be far away
  CsvReader csv(text);
  Places places = {0, 1, 2, 3, 4};
  std::size_t columns = kColumns;
  if (format.header) {
    std::optional<CsvRecord> header = csv.next();
    for (std::size_t i = 0; i < *format.header && header; ++i) {
      header = csv.next();
    }
    if (!header) {
      return fail(ErrorCode::Usage,
                  fmt::format("the file has no row {} to be the header", *format.header));
    }
    const Result<Places> found = find_columns(*header);
    if (!found) {
      return Failure(found.error());
    }
    places = *found;
    columns = header->fields.size();
  }
  RowReader reader(format);
  std::size_t rows = 0;
  while (const std::optional<CsvRecord> record = csv.next()) {
    if (reader.tasks() >= format.most_tasks) {
      return fail(ErrorCode::Usage,
                  fmt::format("the file has more than {} rows", format.most_tasks));
    }
    if (reader.problems() >= CsvReader::kMostProblems ||
        (++rows % kRowsBetweenLooks == 0 && format.patience.over())) {
      break;
    }
    reader.read(*record, places, columns);
  }
  return reader.finish(std::move(csv.problems()));
}

}  // namespace

TaskList parse_tasks(std::string_view text, const TaskFormat& format) {
  Result<TaskList> read = parse_rows(text, format);
  return read ? std::move(*read) : TaskList{{}, {{1, read.error().message}}};
}

Result<std::vector<Task>> read_tasks(std::string_view text, const TaskFormat& format) {
  Result<TaskList> read = parse_rows(text, format);
  if (!read) {
    return Failure(read.error());
  }
  if (read->problems.empty()) {
    return std::move(read->tasks);
  }
  std::string problems;
  for (const LineError& problem : read->problems) {
    problems += fmt::format("\n  line {} {}", problem.line, problem.message);
  }
  return fail(ErrorCode::Usage,
              "nothing was run, because of what is wrong in the file:" + problems);
}

}  // namespace berth
