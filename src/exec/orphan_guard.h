// OrphanGuard: a small process beside this one, which ends the jobs if this process is killed. A signal
// at the death of the parent reaches only a job's first process, and kill -9 leaves no time for
// anything else.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

class OrphanGuard {
 public:
  /// Watches over all processes with `mark` ("NAME=value") in their environment. Must be called
  /// while this process has one thread.
  static Result<OrphanGuard> start(const std::string& mark);
  /// The jobs are done: the guard ends and signals no process.
  ~OrphanGuard();
  OrphanGuard(OrphanGuard&& other) noexcept;
  OrphanGuard& operator=(OrphanGuard&&) = delete;

  pid_t pid() const { return pid_; }

 private:
  OrphanGuard(pid_t pid, Fd alive) : pid_(pid), alive_(std::move(alive)) {}

  pid_t pid_ = 0;
  Fd alive_;  // the other end sees it close, however this process dies
};

}  // namespace berth
