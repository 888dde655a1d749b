// Where a job's output goes, and what stood in the way of its start, in words.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/description.h"
#include "exec/attempt_record.h"

namespace berth {

/// A pattern with %j (the job's number), %n (name), %p (project), %a (array index) and %% filled
/// in; relative to the job's directory. Empty for an empty pattern.
std::string output_path(const std::string& pattern, JobId id, const JobDescription& job);

/// The folder for logs that berth keeps itself. Who is not the daemon's own user writes into one of
/// their own within it, made here: nobody can put a file of theirs where another's output will go.
/// A job for which it cannot be made fails to open its output and says so.
std::string log_folder(const std::string& logs, uid_t user);

/// "cannot open its output: No such file or directory".
std::string describe_start_error(int error, StartStep step);

}  // namespace berth
