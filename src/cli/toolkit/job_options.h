// JobOptions: the options that describe a job, the same in every command that queues jobs.
#pragma once

#include <string>

#include "api/messages.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/mps_option.h"
#include "spec/line_options.h"

namespace berth {

class JobOptions {
 public:
  void declare(Args& args);

  /// The job that the options describe, with the current directory and environment.
  Result<JobDescription> description() const;
  /// Sets how many jobs each command becomes, and the index of the first.
  Result<void> apply_array(SubmittedJob& job) const;
  const std::string& name() const { return job_.name; }
  /// Whether the user says how many GPUs.
  bool says_gpus() const { return line_.gpus.has_value(); }

 private:
  JobDescription job_;
  LineOptions line_;
  MpsOption mps_;
  std::string after_;
  std::string array_;
  std::string begin_;
  std::string signal_;
  std::string retry_on_;
};

/// The options that say where jobs run.
void declare_target(Args& args, Needs& needs);

/// "10m" from now, "18:30", "2026-11-16", "2026-11-16T08:00", or "@" and seconds since 1970.
Result<Time> parse_begin(std::string_view text);

}  // namespace berth
