// Input: the source of the jobs of a run. It is a file or pipe with job lines, a list of jobs, or a
// part of this program that adds jobs while others run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "spec/job_line.h"

namespace berth {

/// Takes jobs on the run's own thread, at any time. There is no pipe that could fill up and block
/// the thread.
class InputFeed {
 public:
  InputFeed();

  void add(JobLine job);
  /// No more jobs will be added.
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

  /// All jobs can be read at once, without waiting.
  bool complete() const { return complete_; }
  /// The descriptor to wait on while !complete().
  int fd() const { return fd_; }

  /// Reads a bounded piece of the available input. False at the end.
  Result<bool> read_some();

  /// The next job of the input read so far.
  std::optional<tl::expected<JobLine, LineError>> next();

 private:
  Input(Fd owned, int fd, bool complete, JobReader::Separator separator)
      : owned_(std::move(owned)), fd_(fd), complete_(complete), reader_(separator) {}

  Fd owned_;
  int fd_ = -1;  // -1: all jobs are in jobs_
  InputFeed* feed_ = nullptr;
  bool complete_ = false;
  JobReader reader_;           // for input that comes as text
  std::vector<JobLine> jobs_;  // input that came as jobs
  std::size_t taken_ = 0;      // how many of jobs_ next() has returned
};

}  // namespace berth
