// Guard: a small process beside this one, which ends the jobs if this one is killed. A signal at
// the death of the parent reaches only a job's first process, and kill -9 leaves no time for more.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

class Guard {
 public:
  /// Watches over all processes with `mark` ("NAME=value") in their environment. To be called while
  /// this process has one thread.
  static Result<Guard> start(const std::string& mark);
  /// The jobs are done: the guard goes, and touches nobody.
  ~Guard();
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;

  pid_t pid() const { return pid_; }

 private:
  Guard(pid_t pid, Fd alive) : pid_(pid), alive_(std::move(alive)) {}

  pid_t pid_ = 0;
  Fd alive_;  // the other end sees it close, whatever this process dies of
};

}  // namespace berth
