// Input: where the jobs of a run come from: the lines of a file or a pipe, jobs that are there
// already, or a part of this program that goes on adding jobs while others run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "spec/job_line.h"

namespace berth {

/// Jobs that are added on the run's own thread, at any time: no pipe can fill up and block it.
class InputFeed {
 public:
  InputFeed();

  void add(JobLine job);
  /// Nothing more will come.
  void close();

 private:
  friend class Input;
  void wake() const;

  Fd event_;
  std::vector<JobLine> pending_;
  bool closed_ = false;
};

class Input {
 public:
  /// Job lines; "-" is standard input.
  static Result<Input> open(const std::string& path, JobReader::Separator separator);
  static Input from_jobs(std::vector<JobLine> jobs);
  /// `feed` must outlive the input.
  static Input from_feed(InputFeed& feed);

  /// Everything can be read at once, without waiting for anyone.
  bool complete() const { return complete_; }
  /// The descriptor to wait on while !complete().
  int fd() const { return fd_; }

  /// Reads what is there, a bounded piece of it. False at the end.
  Result<bool> read_some();

  /// The next job of what was read.
  std::optional<tl::expected<JobLine, LineError>> next();

 private:
  Input(Fd owned, int fd, bool complete, JobReader::Separator separator)
      : owned_(std::move(owned)), fd_(fd), complete_(complete), reader_(separator) {}

  Fd owned_;
  int fd_ = -1;  // -1: all jobs are there
  InputFeed* feed_ = nullptr;
  bool complete_ = false;
  JobReader reader_;           // of what comes as text
  std::vector<JobLine> jobs_;  // what came as jobs
  std::size_t taken_ = 0;      // so many of them were given out
};

}  // namespace berth
