// Input: where the jobs of a run come from: a file, a pipe, or text that is there already.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "spec/job_line.h"

namespace berth {

class Input {
 public:
  /// "-" is standard input.
  static Result<Input> open(const std::string& path, JobReader::Separator separator);
  static Input from_text(std::string text, JobReader::Separator separator);

  /// Everything can be read at once, without waiting for anyone.
  bool complete() const { return complete_; }
  /// The descriptor to wait on while !complete().
  int fd() const { return fd_; }

  /// Reads what is there, a bounded piece of it. False at the end.
  Result<bool> read_some();

  JobReader& reader() { return reader_; }

 private:
  Input(Fd owned, int fd, bool complete, JobReader::Separator separator)
      : owned_(std::move(owned)), fd_(fd), complete_(complete), reader_(separator) {}

  Fd owned_;
  int fd_ = -1;  // -1: all of it is in the reader
  bool complete_ = false;
  JobReader reader_;
};

}  // namespace berth
