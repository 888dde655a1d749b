// Where a job's output goes, and why a job could not start, in words.
#pragma once

#include <string>

#include "core/description.h"
#include "exec/attempt_record.h"

namespace berth {

/// Replaces %j (the job's number), %n (name), %p (project), %a (array index) and %% in a pattern. A
/// relative path is resolved against the job's directory. Empty for an empty pattern.
std::string output_path(const std::string& pattern, JobId id, const JobDescription& job);

/// Whether the pattern has this sign: "%j", but not in "%%j".
bool has_sign(const std::string& pattern, char sign);

/// "cannot open its output: No such file or directory".
std::string describe_start_error(int error, StartStep step);

}  // namespace berth
