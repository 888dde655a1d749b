// The table of `berth queue`: one line per job, at 80 columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/messages/job.h"
#include "base/result.h"
#include "cli/toolkit/terminal.h"

namespace berth {

/// The names of all columns, as --columns takes them.
std::vector<std::string_view> queue_columns();
/// Reads "id,state,name".
Result<std::vector<std::string>> parse_queue_columns(std::string_view text);

/// The jobs in their order. Without `columns`, those that have something to say.
std::string queue_table(const std::vector<JobReport>& jobs, const std::vector<std::string>& columns,
                        const Terminal& terminal);

/// The name of each job. Jobs of a sweep also have the parameters by which they differ.
std::vector<std::string> telling_names(const std::vector<JobReport>& jobs);

}  // namespace berth
