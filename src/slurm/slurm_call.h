// One call of a Slurm command: a child process without a shell, with a time-out. Blocks, so it is
// for a thread that may wait.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace berth {

struct SlurmCall {
  std::vector<std::string> words;        // the program, by name or path, and its arguments
  std::string input;                     // for its standard input
  std::vector<std::string> environment;  // complete; see slurm_environment()
  std::chrono::milliseconds patience = std::chrono::seconds(30);
};

struct SlurmAnswer {
  enum class Kind {
    Exited,     // see code
    TimedOut,   // it was killed; what it asked for may have been done all the same
    NotStarted  // no such program, or no process
  };
  Kind kind = Kind::NotStarted;
  int code = 0;  // 128 and the signal's number for a call that a signal ended
  std::string output;
  std::string errors;

  bool ok() const { return kind == Kind::Exited && code == 0; }
};

/// Ends the child early when `stop_fd` becomes readable (-1: never).
SlurmAnswer run_slurm_call(const SlurmCall& call, int stop_fd);

/// The environment for Slurm's commands: `base` without the variables by which Slurm's own options
/// are set, except SLURM_CONF. A `conf` that is not empty is the file of the cluster.
std::vector<std::string> slurm_environment(std::vector<std::string> base, const std::string& conf);

/// Where this program is: `name` in `folder`, or by PATH if that is empty. Empty: nowhere.
std::string find_program(const std::string& folder, const std::string& name);

}  // namespace berth
