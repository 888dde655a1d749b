// JobDescription: everything that a submission says about a job. The scheduler knows only `spec`;
// the rest is for the code that starts, stores or shows the job.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/job_spec.h"

namespace berth {

struct JobDescription {
  JobSpec spec;
  std::string name;
  std::string project;
  std::string command;                   // for /bin/sh -c
  std::string directory;                 // absolute
  std::vector<std::string> environment;  // "NAME=value", as captured at submission
  std::string output;                    // path pattern for stdout; empty: berth's own log folder
  std::string error;                     // path pattern for stderr; empty: together with stdout
  std::map<std::string, std::string> labels;
  std::string sweep;                              // the sweep it came from; empty: none
  std::map<std::string, std::string> parameters;  // of its point in the sweep
  std::optional<std::uint32_t> array_index;
  int warning_signal = 0;  // sent `spec.warn_before` ahead of the time limit; 0: none
  uid_t user = 0;          // the job's user, from the credentials of the socket
};

}  // namespace berth
