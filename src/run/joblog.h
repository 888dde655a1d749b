// Joblog: one line per ended job, in GNU parallel's columns, so that an interrupted run can be
// resumed. Each line is written with one system call, before the job counts as ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"

namespace berth {

struct JoblogEntry {
  JobId seq;
  double started = 0;  // seconds since 1970
  double runtime = 0;  // seconds
  std::uint64_t output_bytes = 0;
  int exit_code = 0;
  int signal = 0;
  std::string command;  // as written in the file: see joblog_command()

  bool succeeded() const { return exit_code == 0 && signal == 0; }
};

/// The command as one field of one line: tabs and newlines as \t and \n.
std::string joblog_command(std::string_view command);

class Joblog {
 public:
  /// Starts a new file. A file that already lists jobs is an error unless `keep` is set. With
  /// `keep`, new lines are added to the file, and past() has the existing ones.
  static Result<Joblog> open(const std::string& path, bool keep);

  /// The last entry of each job in the file when it was opened.
  const std::map<JobId, JoblogEntry>& past() const { return past_; }

  Result<void> add(const JoblogEntry& entry);

 private:
  Joblog(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<void> load();

  Fd file_;
  std::string path_;
  std::map<JobId, JoblogEntry> past_;
};

}  // namespace berth
